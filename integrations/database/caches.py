"""The cache for what can be found out or counted again: Redis, else each process has its own.
Beside it stands Django's default cache, in the database, which all processes share."""

import logging
from collections.abc import Callable
from typing import Any

from django.core.cache import caches

log = logging.getLogger(__name__)


class Quick:
    """Where it does not answer, it is empty: nobody waits for it or fails with it."""

    def get(self, key: str, default: Any = None) -> Any:
        return self._ask(lambda: caches["quick"].get(key, default), default)

    def set(self, key: str, value: Any, seconds: float | None) -> None:
        self._ask(lambda: caches["quick"].set(key, value, seconds), None)

    def _ask(self, ask: Callable[[], Any], default: Any) -> Any:
        try:
            return ask()
        except Exception as error:  # noqa: BLE001  # each kind of cache has errors of its own
            log.warning("cache.away", extra={"code": type(error).__name__})
            return default


quick = Quick()

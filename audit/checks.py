"""System checks of the ledger, for `manage.py check --database default` and `migrate`."""

from collections.abc import Sequence
from typing import Any

from django.apps.config import AppConfig
from django.core.checks import CheckMessage, Error

from audit import guards

HINT = (
    "Find out who changed it, run `manage.py verify_ledger`, and make the triggers again from "
    "audit/migrations/0001_ledger.py."
)


def ledger_is_guarded(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None, **kwargs: Any
) -> list[CheckMessage]:
    """audit.E001 for each guard of the ledger that is not as it should be.

    Says nothing before the first migration, and only looks when a database is checked.
    """
    if not databases or not guards.installed():
        return []
    return [Error(sentence, hint=HINT, id="audit.E001") for sentence in guards.problems()]

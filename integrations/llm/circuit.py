"""The circuit of each model's endpoint, in this process: while it does not answer, one request in a
while tries it, and all others fail at once instead of waiting as long."""

import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from integrations.llm.completions import ModelError
from integrations.network.retries import pause

log = logging.getLogger(__name__)
FAILURES = 8  # in a row
LONGEST_SECONDS = 60.0
_making = threading.Lock()
# As many as there are endpoints in the settings.
_circuits: "dict[str, Circuit]" = {}
AWAY = ("unreachable", "timeout", "status_5")


class Circuit:
    """Opens after FAILURES requests in a row that were not answered. Safe to use from many
    threads. `clock` gives seconds."""

    def __init__(self, name: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._name, self._clock = name, clock
        self._lock = threading.Lock()
        self._failures, self._since, self._opened_until = 0, 0.0, 0.0

    def enter(self, *, seconds: float) -> None:
        """Before a request that may take so long. Raises a retryable ModelError, `endpoint_away`,
        when none may be sent now."""
        with self._lock:
            now = self._clock()
            if self._failures < FAILURES:
                return
            if now < self._opened_until:
                raise ModelError("endpoint_away", retryable=True)
            self._opened_until = now + seconds  # the one that tries keeps the others out

    def note(self, code: str = "") -> None:
        """What became of it: the code of its error, or none. A refusal is an answer, too."""
        with self._lock:
            now = self._clock()
            if not code.startswith(AWAY):
                self._failures = 0
                return
            if not self._failures:
                self._since = now
            self._failures += 1
            if self._failures >= FAILURES:
                waited = pause(timedelta(seconds=now - self._since)).total_seconds()
                self._opened_until = now + min(waited, LONGEST_SECONDS)
                log.warning("llm.circuit_opened", extra={"endpoint": self._name})

    def is_open(self) -> bool:
        """Whether it did not answer so often that it is left alone."""
        return self._failures >= FAILURES


def is_any_open() -> bool:
    """Whether this process leaves an endpoint alone that did not answer."""
    return any(circuit.is_open() for circuit in _circuits.values())


def circuit_of(endpoint: str) -> Circuit:
    """The one circuit of this address in this process."""
    with _making:
        return _circuits.setdefault(endpoint, Circuit(endpoint))

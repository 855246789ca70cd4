"""The time that a trial of a web server has."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from time import monotonic

from integrations.exceptions import TooSlow

SECONDS = 20.0  # until the last request of a trial begins
Slot = Callable[[], AbstractContextManager[None]]


@contextmanager
def _slot(until: float) -> Iterator[None]:
    if monotonic() > until:
        raise TooSlow("no time is left")
    yield


def slots() -> Slot:
    """A slot for each request until the time is over."""
    until = monotonic() + SECONDS
    return lambda: _slot(until)

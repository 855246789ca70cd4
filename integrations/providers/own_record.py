"""What became of a write that stands in a row of Remit's own."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from django.utils import timezone

from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed

# A server that is slow may still do what it was sent.
LATE = timedelta(seconds=30)


class Row(Protocol):
    @property
    def done(self) -> bool: ...
    @property
    def answer(self) -> Any: ...
    @property
    def changed_at(self) -> datetime: ...


R = TypeVar("R", bound=Row)


def find_evidence(row: R | None, look: Callable[[R], Evidence]) -> Evidence:
    """By the row where it says so itself, else by what `look` finds. Raises ProviderError where the
    server has to be asked and is away."""
    if row is None:
        return NotPerformed(proof="Remit had sent nothing to the server under this key.")
    if row.done:
        return Performed(response=row.answer, at=row.changed_at)
    found = look(row)
    late = row.changed_at + LATE
    if isinstance(found, NotPerformed) and timezone.now() < late:
        return CannotTell(ask_again_at=late)
    return found

"""Statements that follow each other with nothing in between, as one way to the server and back."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from django.db import connection

from integrations.database.pipelines import fetch_all

T = TypeVar("T")
S = TypeVar("S")
Row = tuple[Any, ...]


class Read(Generic[T]):
    """A statement, and what `load` makes of its rows: `found`, once it ran. One that writes goes
    before those that are to see what it wrote."""

    found: T
    has_run = False

    def __init__(
        self,
        statement: str,
        values: Sequence[Any] | Mapping[str, Any],
        load: Callable[[Sequence[Row]], T],
    ) -> None:
        self.statement, self.values, self.load = statement, values, load

    def then(self, make: Callable[[T], "S"]) -> "Read[S]":
        """The same, and what `make` makes of what was found; it may ask for more."""
        return Read(self.statement, self.values, lambda rows: make(self.load(rows)))

    def run(self) -> T:
        """By itself. One query."""
        with connection.cursor() as cursor:
            cursor.execute(self.statement, self.values)
            self.answer(cursor.fetchall())
        return self.found

    def answer(self, rows: Sequence[Row]) -> None:
        """These are what it has found."""
        self.found, self.has_run = self.load(rows), True


def run_together(*reads: Read[Any]) -> None:
    """All of them, in one transaction and one way to the server and back. A statement each; what
    is committed meanwhile may be in the later ones alone, as if they were run by themselves.
    Raises DatabaseError: then none of them has found anything."""
    rows = fetch_all(connection.alias, [(read.statement, read.values) for read in reads])
    for read, found in zip(reads, rows, strict=True):
        read.answer(found)

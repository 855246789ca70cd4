"""What somebody can do who owns the database, and what the database refuses to others."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from django.db import ProgrammingError, connections, transaction
from django.db.backends.utils import CursorWrapper

from audit.database import guards


class Undo(Exception):
    """Rolls the tampering back, so that the ledger of the other tests stays sound."""


@contextmanager
def undoing(using: str = "ledger") -> Iterator[CursorWrapper]:
    """A transaction that is undone at the end of the block."""
    with (
        suppress(Undo),
        transaction.atomic(using=using),
        connections[using].cursor() as cursor,
    ):
        yield cursor
        raise Undo


@contextmanager
def switched_off() -> Iterator[None]:
    """As a superuser: without the triggers until the end of the block, and all of it undone."""
    with undoing() as cursor:
        for _, table in guards.guarded():
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield


@contextmanager
def undone(statement: str, *parameters: int) -> Iterator[None]:
    """`statement` while the triggers are switched off, undone at the end."""
    with undoing() as cursor:
        cursor.execute(statement, parameters)
        yield


@contextmanager
def tampered(statement: str, *parameters: int) -> Iterator[None]:
    """As a superuser: triggers off, `statement`, triggers on again; undone at the end."""
    with switched_off(), connections["ledger"].cursor() as cursor:
        cursor.execute(statement, parameters)
        for whole, table in guards.guarded():
            for name in guards.KINDS:
                cursor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {whole}_{name}")
        yield


def find_permitted(statements: Iterable[str], *, using: str = "ledger") -> list[str]:
    """Those of the statements that the ledger's guards let through. All are tried in one
    transaction, which is undone."""
    permitted = []
    with undoing(using) as cursor:
        for statement in statements:
            try:
                with transaction.atomic(using=using):
                    cursor.execute(statement)
            except ProgrammingError as error:
                if "The ledger only inserts" not in str(error):
                    raise
            else:
                permitted.append(statement)
    return permitted

"""What somebody can do who owns the database."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections, transaction

from audit import guards


class Undo(Exception):
    """Rolls the tampering back, so that the ledger of the other tests stays sound."""


@contextmanager
def tampered(statement: str, *parameters: int) -> Iterator[None]:
    """As a superuser: triggers off, `statement`, triggers on again; undone at the end."""
    try:
        with transaction.atomic(using="ledger"), connections["ledger"].cursor() as cursor:
            tables = guards.guarded()
            for _, table in tables:
                cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            cursor.execute(statement, parameters)
            for whole, table in tables:
                for name in guards.KINDS:
                    cursor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {whole}_{name}")
            yield
            raise Undo
    except Undo:
        pass

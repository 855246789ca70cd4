"""What somebody can do who owns the database."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections, transaction

from audit.database import guards


class Undo(Exception):
    """Rolls the tampering back, so that the ledger of the other tests stays sound."""


@contextmanager
def switched_off() -> Iterator[None]:
    """As a superuser: without the triggers until the end of the block, and all of it undone."""
    try:
        with transaction.atomic(using="ledger"):
            with connections["ledger"].cursor() as cursor:
                for _, table in guards.guarded():
                    cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            yield
            raise Undo
    except Undo:
        pass


@contextmanager
def undone(statement: str, *parameters: int) -> Iterator[None]:
    """`statement` while the triggers are switched off, undone at the end."""
    try:
        with transaction.atomic(using="ledger"):
            with connections["ledger"].cursor() as cursor:
                cursor.execute(statement, parameters)
            yield
            raise Undo
    except Undo:
        pass


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

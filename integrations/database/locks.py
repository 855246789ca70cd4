"""Locks with names, for what no row stands for: a count, or rows that are not there yet."""

from django.db import connection


def take_lock(name: str) -> None:
    """Wait for the lock of this name, and keep it until the caller's transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


def try_lock(name: str) -> bool:
    """The same, without waiting: False where another transaction has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [name])
        return bool(cursor.fetchone()[0])

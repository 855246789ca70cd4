"""Databases of a test's own, on the server of the others."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg
from django.conf import settings
from django.db import connections


def url(database: str, *, user: str = "", password: str = "") -> str:
    own = connections["default"].settings_dict
    who = f"{user or own['USER']}:{password or own['PASSWORD']}"
    return f"postgres://{who}@{own['HOST']}:{own['PORT']}/{database}"


@contextmanager
def fresh_database() -> Iterator[str]:
    """The address of an empty database, dropped at the end."""
    name = f"test_remit_{os.getpid()}_{uuid4().hex[:8]}"
    with psycopg.connect(url("postgres"), autocommit=True) as session:
        session.execute(f'CREATE DATABASE "{name}"')
        try:
            yield url(name)
        finally:
            session.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def manage(*arguments: str, database: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`manage.py` in a process of its own, on this database, with the keys of the tests."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=os.environ
        | {
            "DATABASE_URL": database,
            "SECRET_KEY": settings.SECRET_KEY,
            "LEDGER_KEY": settings.LEDGER_KEY,
            "LOG_LEVEL": "CRITICAL",
        }
        | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

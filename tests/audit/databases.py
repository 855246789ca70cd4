"""Databases of a test's own, on the server of the others."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import StringIO
from unittest import mock
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import override_settings

from audit.ledger import vault
from tests.audit import sealed
from tests.database import migrated, unpooled


def url(database: str, *, user: str = "", password: str = "") -> str:
    own = connections["default"].settings_dict
    who = f"{user or own['USER']}:{password or own['PASSWORD']}"
    return f"postgres://{who}@{own['HOST']}:{own['PORT']}/{database}"


@contextmanager
def fresh_database() -> Iterator[str]:
    """The address of a database with empty tables, dropped at the end."""
    name = f"test_remit_{os.getpid()}_{uuid4().hex[:8]}"
    with migrated(name):
        yield url(name)


@contextmanager
def connected(database: str) -> Iterator[None]:
    """Django works at this address, in this process, while the block lasts."""
    parts = urlsplit(database)
    there = {"NAME": parts.path[1:], "USER": parts.username, "PASSWORD": parts.password}
    with unpooled(), ExitStack() as stack:
        for each in connections.all():
            stack.enter_context(mock.patch.dict(each.settings_dict, there))
        # An organisation, the ledger's own for one, has another data key there.
        stack.enter_context(mock.patch.object(vault, "keys", vault.DataKeys()))
        yield


def await_order(database: str) -> None:
    """Wait until the order of all rows there is settled. A transaction of any other test on the
    server holds it up, since transactions are numbered for all databases together."""
    with psycopg.connect(database, autocommit=True) as session:
        query = "SELECT bool_and(xact < pg_snapshot_xmin(pg_current_snapshot())) FROM audit_action"
        sealed.until(lambda: session.execute(query).fetchone() == (True,))


def command(*arguments: str, database: str, **values: str) -> str:
    """What a command prints in this process, on this database, under these settings; what it
    says where it refuses."""
    said = StringIO()
    with connected(database), override_settings(**values):
        try:
            call_command(*arguments, stdout=said, stderr=said)
        except CommandError as error:
            said.write(f"{type(error).__name__}: {error}")
    return said.getvalue()


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

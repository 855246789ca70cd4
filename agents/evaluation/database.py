"""Databases of the evaluation's own, beside Remit's on the same server, dropped at the end.

An office is read in once, and each task works on a copy of its database: it finds everything as
every other task does. Nothing of Remit's own database is read or written.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg
from django.core.management import call_command
from django.db import connections
from psycopg import sql

PREFIX = "remit_evaluation_"
BLANK = "template1"  # what an office's database is made from, before it is migrated
# A run's session goes by the run's name: as long as it is there, so is the run.
IS_THERE = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
END_SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
KNOWN = "SELECT datname FROM pg_database WHERE starts_with(datname, %s)"
NOT_SAID = frozenset(
    {"pool", "assume_role", "application_name", "server_side_binding", "prepare_threshold"}
)


class NoDatabase(RuntimeError):
    """No database can be made here. The message says what to do."""


class Databases:
    """The databases of one run. Django's connections lead to the one that was used last.

    Copying and dropping take longer than most tasks, so the next copy is made, and the last one
    dropped, while a task is played.
    """

    def __init__(self, session: psycopg.Connection, name: str) -> None:
        self._session = session
        self._name = name
        self._numbers = count(1)
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="databases")
        self._next: dict[str, Future[str]] = {}

    def migrated(self) -> str:
        """A new database with all tables, in use."""
        name = self._aside.submit(self._make, BLANK).result()
        self.use(name)
        call_command("migrate", verbosity=0, interactive=False)
        return name

    @contextmanager
    def copied(self, template: str) -> Iterator[None]:
        """A copy of one of these databases is in use until the end of the block."""
        connections.close_all()
        ready = self._next.pop(template, None) or self._aside.submit(self._make, template)
        name = ready.result()
        self._next[template] = self._aside.submit(self._make, template)
        self.use(name)
        try:
            yield
        finally:
            connections.close_all()
            self._aside.submit(_drop, self._session, name)

    def use(self, name: str) -> None:
        connections.close_all()
        for alias in connections:
            settings = connections[alias].settings_dict
            # On a busy machine a migration may rest for long, and nobody else is kept waiting.
            patient = {"options": "-c idle_in_transaction_session_timeout=0"}
            settings |= {"NAME": name, "OPTIONS": settings["OPTIONS"] | patient}

    def close(self) -> None:
        """Drop all of them."""
        self._aside.shutdown(cancel_futures=True)
        for (name,) in self._session.execute(KNOWN, [f"{self._name}_"]).fetchall():
            _drop(self._session, name)

    def _make(self, template: str) -> str:
        name = f"{self._name}_{next(self._numbers)}"
        if template.startswith(PREFIX):
            self._session.execute(END_SESSIONS, [template])
        self._session.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        return name


@contextmanager
def own_databases() -> Iterator[Databases]:
    """Databases until the end of the block; then Django's connections lead where they did before.
    What a killed run left behind is dropped as well. Raises NoDatabase."""
    before = {alias: dict(connections[alias].settings_dict) for alias in connections}
    name = f"{PREFIX}{os.getpid()}_{os.urandom(3).hex()}"
    connections.close_all()
    with psycopg.connect(**_parameters(), application_name=name) as session:
        _drop_abandoned(session)
        databases = Databases(session, name)
        try:
            yield databases
        except psycopg.errors.InsufficientPrivilege as error:
            raise NoDatabase(
                "The evaluation makes databases of its own, and this role may not: let it with "
                "ALTER ROLE … CREATEDB, or set DATABASE_URL to a server for trying things out."
            ) from error
        finally:
            connections.close_all()
            for alias, own in before.items():
                connections[alias].settings_dict |= own
            databases.close()


def _parameters() -> dict[str, Any]:
    own = connections["default"].settings_dict
    said = {key: value for key, value in own["OPTIONS"].items() if key not in NOT_SAID}
    return said | {
        "host": own["HOST"] or None,
        "port": own["PORT"] or None,
        "user": own["USER"] or None,
        "password": own["PASSWORD"] or None,
        "dbname": own["NAME"],
        "autocommit": True,
    }


def _drop_abandoned(session: psycopg.Connection) -> None:
    """Databases of runs whose session is gone."""
    runs = {name.rpartition("_")[0] for (name,) in session.execute(KNOWN, [PREFIX]).fetchall()}
    for run in runs:
        if session.execute(IS_THERE, [run]).fetchone() == (0,):
            for (name,) in session.execute(KNOWN, [f"{run}_"]).fetchall():
                _drop(session, name)


def _drop(session: psycopg.Connection, name: str) -> None:
    session.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

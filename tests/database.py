"""The database of a test run: copied from a template, and swept after tests that commit.

Migrating takes seconds and a copy some tenths of one, so the template is kept on the server
until migrations change. Django would truncate all tables after every test that commits, which
takes longer than most tests. Nearly all tables are empty then, so looking first takes
milliseconds.
"""

import datetime
import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast
from unittest import mock

import psycopg
from django.apps import apps
from django.core.management import call_command
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper
from django.test import TransactionTestCase
from psycopg import sql

TEMPLATE = "test_remit_template_"
DRAFT = "test_remit_draft"
LOCK = 0x7E57


def parameters(database: str) -> dict[str, Any]:
    """How psycopg reaches a database on the server of the tests."""
    own = connections["default"].settings_dict
    return {
        "host": own["HOST"],
        "port": own["PORT"] or None,
        "user": own["USER"],
        "password": own["PASSWORD"],
        "dbname": database,
        "autocommit": True,
    }


@contextmanager
def migrated(name: str) -> Iterator[None]:
    """A database of this name with everything that migrations make, dropped at the end."""
    with psycopg.connect(**parameters("postgres")) as session:
        session.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        session.execute(copy(template(session), name))
        session.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
        try:
            yield
        finally:
            session.execute(drop(name))


@contextmanager
def used_by_django(name: str) -> Iterator[None]:
    """Django's connections lead to this database while the block lasts."""
    with ExitStack() as stack:
        for each in connections.all():
            stack.enter_context(mock.patch.dict(each.settings_dict, {"NAME": name}))
        stack.callback(connections.close_all)
        yield


@contextmanager
def pooled() -> Iterator[None]:
    """Every thread takes its connections from a pool, as in the web process, while the block
    lasts. New ones for each request and thread took half of the time of the attacks."""
    with ExitStack() as stack:
        for each in connections.all():
            options = each.settings_dict["OPTIONS"] | {
                "pool": {"min_size": 0, "max_size": 50},
                # Many tests are one transaction, which is idle as long as a busy machine likes.
                "options": "-c idle_in_transaction_session_timeout=0",
            }
            held = {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": False, "OPTIONS": options}
            stack.enter_context(mock.patch.dict(each.settings_dict, held))
            stack.callback(cast(DatabaseWrapper, each).close_pool)
        stack.callback(connections.close_all)
        yield


@contextmanager
def unpooled() -> Iterator[None]:
    """Each thread has connections of its own, which end with the block: for another database, for
    a process that forks, and for a session that nobody else may get."""
    with ExitStack() as stack:
        for each in connections.all():
            each.close()
            options = {k: v for k, v in each.settings_dict["OPTIONS"].items() if k != "pool"}
            stack.enter_context(mock.patch.dict(each.settings_dict, {"OPTIONS": options}))
            stack.callback(each.close)
        yield


def template(session: psycopg.Connection) -> str:
    """The name of a database as migrations make it today. Made if it is missing; those of
    before are dropped. The caller holds the lock."""
    wanted = migrated_already()
    known = session.execute(
        "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [TEMPLATE]
    ).fetchall()
    if (wanted,) in known:
        return wanted
    for name in (DRAFT, *(name for (name,) in known)):
        session.execute(drop(name))
    session.execute(copy("template1", DRAFT))
    with used_by_django(DRAFT):
        call_command("migrate", verbosity=0, interactive=False)
    session.execute(
        sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
            sql.Identifier(DRAFT), sql.Identifier(wanted)
        )
    )
    return wanted


def migrated_already() -> str:
    """The template from which the database of this test was copied."""
    return TEMPLATE + state_of_migrations()


def state_of_migrations() -> str:
    """A digest of all migrations, and of the month: the ledger's tables are made in months."""
    digest = hashlib.sha256(f"{datetime.datetime.now(datetime.UTC):%Y-%m}".encode())
    for app in apps.get_app_configs():
        for path in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(f"{app.label} {path.name} ".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def copy(template: str, name: str) -> sql.Composed:
    return sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
        sql.Identifier(name), sql.Identifier(template)
    )


def drop(name: str) -> sql.Composed:
    return sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))


class Sweeper:
    """Takes out of the database what was not there when this was made.

    The tables that migrations wrote to are left alone, and so is the ledger, which is none of
    Django's: it only inserts.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.session = psycopg.connect(**parameters(name))
        names = connections["default"].introspection.django_table_names(only_existing=True)
        self.look = look_into(names)
        self.kept = self._with_rows()

    def sweep(self) -> None:
        used = self._with_rows() - self.kept
        if used:
            # Foreign keys are checked at the end of the transaction, so the order is free.
            deletes = [sql.SQL("DELETE FROM {}").format(sql.Identifier(name)) for name in used]
            self.session.execute(sql.SQL("; ").join(deletes))

    def _with_rows(self) -> set[str]:
        try:
            rows = self.session.execute(self.look, prepare=True).fetchall()
        except psycopg.OperationalError:  # the test ended every session of the database
            self.session = psycopg.connect(**parameters(self.name))
            rows = self.session.execute(self.look, prepare=True).fetchall()
        return {name for (name,) in rows}


def look_into(names: list[str]) -> sql.Composed:
    """One query for the names of those tables that hold rows."""
    look = sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})")
    return sql.SQL(" UNION ALL ").join(
        look.format(sql.Literal(name), sql.Identifier(name)) for name in names
    )


@contextmanager
def swept(name: str) -> Iterator[None]:
    """Tests that commit leave nothing behind in this database while the block lasts."""
    sweeper = Sweeper(name)

    def teardown(self: TransactionTestCase) -> None:
        # A transaction that the test left open would hold its rows.
        connections.close_all()
        sweeper.sweep()

    try:
        with mock.patch.object(TransactionTestCase, "_fixture_teardown", teardown):
            yield
    finally:
        sweeper.session.close()


@contextmanager
def failing_with(table: str, state: str) -> Iterator[None]:
    """Every INSERT into `table` fails with this SQLSTATE, and with the row in the words of the
    error, as PostgreSQL has it. Outside a transaction for all connections."""
    names = {"table": sql.Identifier(table), "state": sql.Literal(state)}
    make = """
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '%', NEW::text USING ERRCODE = {state}; END $$;
        CREATE TRIGGER fail BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION fail();
    """
    with connections["default"].cursor() as cursor:
        cursor.execute(sql.SQL(make).format(**names).as_string(cursor.connection))
    try:
        yield
    finally:
        with connections["default"].cursor() as cursor:
            cursor.execute("DROP FUNCTION fail CASCADE")

"""The demo office, loaded and synced once by each process of a test run, and copied from then on.

Loading costs half a second of a core, and a first sync three. A copy has ids of its own, as if it
had been made anew: nothing that is remembered under an id, in a cache or in the ledger, is met by
another test. Only the organisation has the same id each time, as the demo gives it.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from django.db import connection, transaction
from psycopg import sql

from agents.office import demo
from tests.database import look_into

Rows = Mapping[str, str]  # by table, as COPY writes them
ID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
THE_SAME = str(demo.ORGANISATION_ID)


@dataclass(frozen=True, kw_only=True)
class Original:
    """The office as it was loaded, and what became of its rows in syncs: before and after each.
    `settled` are tables that migrations fill, `changes` how many the sandbox had seen."""

    settled: frozenset[str]
    rows: Rows
    sandbox: bytes
    changes: int
    hour: datetime
    syncs: dict[Any, tuple[Rows, Rows]] = field(default_factory=dict)


@dataclass(kw_only=True)
class Copy:
    """One test's office. `ids` leads from the original's ids to its own, `sandbox` is the file of
    its sandbox's state."""

    original: Original
    sandbox: Path
    ids: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def syncing(self, key: Any) -> Iterator[bool]:
        """Copies what this sync made of an office like this one. Where none is known: False, and
        what becomes of the rows in the block is kept. A sandbox in which something has changed is
        like no other: what is synced from it is neither copied nor kept."""
        if count_changes(self.sandbox) != self.original.changes:
            yield False
            return
        now = read(self.original.settled)
        before, after = self.original.syncs.get(key, ({}, {}))
        if key in self.original.syncs and in_order(self._own(before)) == in_order(
            only(now, before)
        ):
            write(self._own(after, more=True))
            yield True
            return
        yield False
        later = read(self.original.settled)
        changed = {table for table in {*now, *later} if now.get(table) != later.get(table)}
        theirs = {own: id for id, own in self.ids.items()}
        before, after = (
            {table: renamed(rows.get(table, ""), theirs) for table in changed}
            for rows in (now, later)
        )
        self.original.syncs.setdefault(key, (before, after))

    def _own(self, rows: Rows, *, more: bool = False) -> Rows:
        """With this copy's ids. Those it does not know yet are made, if there may be more."""
        if more:
            found = {id for text in rows.values() for id in ID.findall(text)}
            for id in found - self.ids.keys() - {THE_SAME}:
                # The first half of an id may be a time, by which rows are ordered.
                self.ids[id] = id[:15] + str(uuid4())[15:]
        return {table: renamed(text, self.ids) for table, text in rows.items()}


_kept: list[Original] = []


def known() -> Original | None:
    """The office that this process loaded in this hour. Its times are offsets from then, most of
    them in days."""
    return next((one for one in _kept if one.hour == this_hour()), None)


@contextmanager
def loading(sandbox: Path) -> Iterator[list[Copy]]:
    """What is loaded in the block is the original from now on. Gives its first copy, itself, at the
    block's end. `sandbox` is the file of the sandbox's state."""
    settled, copies = filled(), list[Copy]()
    yield copies
    with closing(sqlite3.connect(sandbox)) as state:
        found = Original(
            settled=settled,
            rows=read(settled),
            sandbox=state.serialize(),
            changes=count_changes(sandbox),
            hour=this_hour(),
        )
    _kept[:] = [found]
    copies.append(Copy(original=found, sandbox=sandbox))


def count_changes(sandbox: Path) -> int:
    with closing(sqlite3.connect(sandbox)) as state:
        (last,) = state.execute("SELECT coalesce(max(id), 0) FROM history").fetchone()
    return int(last)


def copied(original: Original, sandbox: Path) -> Copy:
    """Another office like it, in an empty database, beside a sandbox that was started from the
    original's state and keeps its own in this file."""
    copy = Copy(original=original, sandbox=sandbox)
    write(copy._own(original.rows, more=True))
    return copy


def this_hour() -> datetime:
    return datetime.now(UTC).replace(minute=0, second=0, microsecond=0)


def renamed(text: str, ids: Mapping[str, str]) -> str:
    return ID.sub(lambda found: ids.get(found[0], found[0]), text)


def only(rows: Rows, tables: Rows) -> Rows:
    return {table: rows.get(table, "") for table in tables}


def in_order(rows: Rows) -> dict[str, list[str]]:
    """Whatever place the database gave each row."""
    return {table: sorted(text.splitlines()) for table, text in rows.items()}


def filled() -> frozenset[str]:
    """The tables that hold rows. The ledger's are none of Django's."""
    names = connection.introspection.django_table_names(only_existing=True)
    return frozenset(name for (name,) in session().execute(look_into(names)).fetchall())


def read(settled: frozenset[str]) -> Rows:
    found = {}
    for table in sorted(filled() - settled):
        query = sql.SQL("COPY {} ({}) TO STDOUT").format(sql.Identifier(table), columns(table))
        with session().cursor().copy(query) as parts:
            found[table] = b"".join(bytes(part) for part in parts).decode()
    return found


def write(rows: Rows) -> None:
    """Put these in the place of what the tables hold. Foreign keys are checked at the end."""
    with transaction.atomic():
        for table, text in rows.items():
            session().execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
            query = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), columns(table))
            with session().cursor().copy(query) as sent:
                sent.write(text)
            if numbering := counter(table):
                session().execute(numbering)


_counters: dict[str, sql.Composed | None] = {}


def counter(table: str) -> sql.Composed | None:
    """Lets the rows that come be numbered after those that were copied, where rows are numbered: a
    test may have begun with the numbers anew."""
    if table not in _counters:
        found = session().execute(
            "SELECT attname, pg_get_serial_sequence(attrelid::regclass::text, attname)"
            " FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
            " AND NOT attisdropped"
            " AND pg_get_serial_sequence(attrelid::regclass::text, attname) IS NOT NULL",
            [table],
        )
        named = found.fetchone()
        _counters[table] = _count_on(table, *named) if named else None
    return _counters[table]


def _count_on(table: str, column: str, sequence: str) -> sql.Composed:
    return sql.SQL(
        "SELECT setval({sequence}, greatest(max({column}), nextval({sequence}))) FROM {table}"
    ).format(
        sequence=sql.Literal(sequence),
        column=sql.Identifier(column),
        table=sql.Identifier(table),
    )


_columns: dict[str, sql.Composed] = {}


def columns(table: str) -> sql.Composed:
    """Without those that PostgreSQL fills itself."""
    if table not in _columns:
        names = session().execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
            " AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
            [table],
        )
        _columns[table] = sql.SQL(", ").join(sql.Identifier(name) for (name,) in names)
    return _columns[table]


def session() -> psycopg.Connection:
    connection.ensure_connection()
    found: psycopg.Connection = connection.connection
    return found

"""The sandbox's durable state: one SQLite database, used from one thread."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox.data_service.settings import SettingsError

JsonObject = dict[str, Any]

SCHEMA_VERSION = 3
FILES = """
CREATE TABLE IF NOT EXISTS files (
    user_id TEXT NOT NULL, id TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (user_id, id)
);
"""
HISTORY = """
CREATE TABLE history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL, source TEXT NOT NULL,
    kind TEXT NOT NULL, change TEXT NOT NULL, object_id TEXT NOT NULL, done_by TEXT NOT NULL,
    key TEXT, at TEXT NOT NULL
);
CREATE INDEX history_source ON history (user_id, source, id);
"""
# States of version 1 know what was done under a key, and not what others did.
FROM_VERSION_1 = f"""{HISTORY}
INSERT INTO history (user_id, source, kind, change, object_id, done_by, key, at)
SELECT user_id,
       CASE WHEN path LIKE '%/jira/%' THEN 'jira' WHEN path LIKE '%/calendar/%' THEN 'calendar'
            WHEN path LIKE '%/documents%' THEN 'gdrive' ELSE 'gmail' END,
       'unknown', 'changed', coalesce(json_extract(response, '$.id'), path), 'client', key,
       performed_at
FROM operations ORDER BY id;
"""  # noqa: S608 - the text above
SCHEMA = f"""{HISTORY}{FILES}
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE options (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE users (id TEXT PRIMARY KEY, address TEXT NOT NULL, name TEXT NOT NULL);
CREATE TABLE labels (
    user_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (user_id, id)
);
CREATE TABLE folders (
    user_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
    PRIMARY KEY (user_id, id)
);
CREATE TABLE projects (
    user_id TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE TABLE objects (
    user_id TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
    position INTEGER NOT NULL, version INTEGER NOT NULL, updated_at TEXT NOT NULL,
    thread_id TEXT, key TEXT, data TEXT NOT NULL,
    PRIMARY KEY (user_id, kind, id)
);
CREATE INDEX objects_position ON objects (user_id, kind, position);
CREATE INDEX objects_thread ON objects (user_id, kind, thread_id);
CREATE UNIQUE INDEX objects_key ON objects (user_id, key) WHERE key IS NOT NULL;
CREATE TABLE correspondence (
    user_id TEXT NOT NULL, address TEXT NOT NULL, direction TEXT NOT NULL,
    email_id TEXT NOT NULL, date TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (user_id, address, direction, email_id)
);
CREATE INDEX correspondence_email ON correspondence (user_id, email_id);
CREATE TABLE operations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL, key TEXT,
    method TEXT NOT NULL, path TEXT NOT NULL, fingerprint TEXT NOT NULL, body TEXT NOT NULL,
    status INTEGER NOT NULL, response TEXT NOT NULL, performed_at TEXT NOT NULL
);
CREATE UNIQUE INDEX operations_key ON operations (user_id, key) WHERE key IS NOT NULL;
CREATE TABLE calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL, method TEXT NOT NULL,
    path TEXT NOT NULL, body TEXT NOT NULL, idempotency_key TEXT, performed INTEGER NOT NULL,
    replayed INTEGER NOT NULL, status INTEGER, at TEXT NOT NULL
);
CREATE TABLE webhooks (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, event TEXT NOT NULL,
    user_id TEXT NOT NULL, source TEXT NOT NULL, source_id TEXT NOT NULL, body TEXT NOT NULL,
    state TEXT NOT NULL, attempts INTEGER NOT NULL, created REAL NOT NULL, due REAL NOT NULL
);
CREATE INDEX webhooks_pending ON webhooks (number) WHERE state = 'pending';
CREATE INDEX webhooks_item ON webhooks (user_id, source, source_id) WHERE state = 'pending';
"""
EMPTIED_BY_RESET = (
    "counters",
    "options",
    "users",
    "labels",
    "folders",
    "projects",
    "objects",
    "correspondence",
    "operations",
    "history",
    "files",
    "calls",
    "webhooks",
)


class Store:
    """The open state. Every method must be called from one thread.

    `records_webhooks` says whether changes leave a webhook to be sent.
    """

    def __init__(self, path: str, *, records_webhooks: bool) -> None:
        """Opens or creates the state at `path`. Raises SettingsError when it is not usable."""
        self.records_webhooks = records_webhooks
        try:
            if path != ":memory:":
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, isolation_level=None)
            try:
                self._prepare()
            except sqlite3.DatabaseError:
                self.close()
                raise
        except (OSError, sqlite3.DatabaseError) as error:
            raise SettingsError(f"The sandbox state {path} cannot be used: {error}.") from error

    def _prepare(self) -> None:
        self._connection.row_factory = sqlite3.Row
        self._connection.execute("PRAGMA journal_mode = WAL")
        # A commit survives the end of the process; only a power cut could lose the last ones.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("PRAGMA busy_timeout = 5000")
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            self._connection.executescript(
                f"BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
        elif version in (1, 2):
            missing = FILES if version == 2 else FROM_VERSION_1 + FILES
            self._connection.executescript(
                f"BEGIN; {missing} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
        elif version != SCHEMA_VERSION:
            raise sqlite3.DatabaseError("another version wrote it; delete it and start again")

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes inside are kept together, or none when an exception leaves the block."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """The number of rows changed."""
        return self._connection.execute(sql, values).rowcount

    def row(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Row | None:
        found: sqlite3.Row | None = self._connection.execute(sql, values).fetchone()
        return found

    def rows(self, sql: str, values: Sequence[Any] = ()) -> Iterator[sqlite3.Row]:
        """Fetched as they are asked for: finish reading before the next write."""
        return self._connection.execute(sql, values)

    def count(self, name: str) -> int:
        """The next number of the named counter. Never given twice, also after deletions."""
        self.execute(
            "INSERT INTO counters VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1",
            (name,),
        )
        (row,) = self.rows("SELECT value FROM counters WHERE name = ?", (name,))
        return int(row["value"])

    def option(self, name: str, default: str) -> str:
        row = self.row("SELECT value FROM options WHERE name = ?", (name,))
        return default if row is None else str(row["value"])

    def set_option(self, name: str, value: str) -> None:
        self.execute(
            "INSERT INTO options VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, value),
        )

    def empty(self) -> None:
        """Forgets everything. Call it inside a transaction."""
        for table in EMPTIED_BY_RESET:
            self.execute(f"DELETE FROM {table}")  # noqa: S608 - names from the tuple above

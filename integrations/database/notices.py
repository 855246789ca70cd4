"""PostgreSQL's NOTIFY: a process that waits for rows of others hears of them at their commit."""

from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections
from psycopg.conninfo import conninfo_to_dict

from integrations.database.base import KEEPALIVES

TASKS = "remit_tasks"  # the channel of the task cluster: a task or a delivery waits
# Django's own and psycopg's words are none of these. Where the address names several servers, the
# one that writes has to be found here too: on a standby nobody may listen.
_PARAMETERS = (
    *("host", "port", "dbname", "user", "password", "service", "passfile"),
    *("sslmode", "sslrootcert", "sslcert", "sslkey"),
    *("target_session_attrs", "connect_timeout", *KEEPALIVES),
)


def notify(channel: str) -> None:
    """Wake who waits for this channel, when the caller's transaction commits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, '')", [channel])


class Notices:
    """What is announced on one channel, heard on a connection of its own: Django's are pooled,
    shared or inside a transaction."""

    def __init__(self, channel: str) -> None:
        self._channel = channel
        self._session: psycopg.Connection[object] | None = None

    def wait(self, seconds: float) -> None:
        """Until something is announced, no longer than this. At once on the first call, as a
        notice may have come before. Raises psycopg.Error when the database is away."""
        if self._session is None:
            self._session = psycopg.connect(autocommit=True, **parameters())
            self._session.execute(f"LISTEN {self._channel}")
            return
        for _ in self._session.notifies(timeout=seconds, stop_after=1):
            pass

    def close(self) -> None:
        """Hang up. A later `wait` connects again."""
        if self._session is not None:
            self._session.close()
            self._session = None


def parameters() -> dict[str, Any]:
    """What psycopg needs to reach the product's database itself, past a pooler."""
    known = connections[DEFAULT_DB_ALIAS].get_connection_params()
    known |= conninfo_to_dict(settings.DATABASE_DIRECT_URL)
    return {name: known[name] for name in _PARAMETERS if name in known}

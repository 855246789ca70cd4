"""Django's engine for PostgreSQL, as `ENGINE = "integrations.database"`: a connection is asked
whether it still lives only where something is to be heard on it.

Who hangs up says so: a server that stops, a proxy that closes, and the kernel, whose keep-alives
were not answered. On a connection that nothing waits on there is no such word, so it is used at
once. Asking the server before every request was a tenth of all statements of a mail.
"""

import select
from collections.abc import Callable
from typing import Any, ClassVar

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg import Connection, Error

from integrations.database.pools import Pool

# Seconds, and how many may stay unanswered: who vanished without a word is noticed after 20. What
# was said and not acknowledged asks for nothing: Linux repeats it, by its default (tcp_retries2),
# for about a quarter of an hour.
KEEPALIVES = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 20_000,  # milliseconds
}


class DatabaseWrapper(base.DatabaseWrapper):
    """Also for connections of a pool, which would ask by itself (CONN_HEALTH_CHECKS)."""

    # Django's, of which its types say nothing.
    _connection_pools: ClassVar[dict[str, Pool]]
    _configure_connection: Callable[[Connection[Any]], bool]

    def get_connection_params(self) -> dict[str, Any]:
        return {**KEEPALIVES, **super().get_connection_params()}

    @property
    def pool(self) -> Pool | None:
        """As Django makes it, of another class."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if not options or self.alias == NO_DB_ALIAS:
            return None
        if self.alias not in self._connection_pools:
            pool = Pool(
                kwargs=self.get_connection_params() | {"autocommit": True},
                open=False,
                configure=self._configure_connection,
                **options,
            )
            self._connection_pools.setdefault(self.alias, pool)
        return self._connection_pools[self.alias]

    def is_usable(self) -> bool:
        return (not self.errors_occurred and is_quiet(self.connection)) or super().is_usable()

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection[Any]:
        while True:
            found: Connection[Any] = super().get_new_connection(conn_params)
            if not self.pool or is_quiet(found) or _answers(found):
                return found
            found.close()
            self.pool.putconn(found)  # which makes another one in its place


def is_quiet(connection: Connection[Any] | None) -> bool:
    """Whether it is open, and there is nothing to be read on it. Asks nobody."""
    if connection is None or connection.closed:
        return False
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return not waiting.poll(0)


def _answers(connection: Connection[Any]) -> bool:
    try:
        connection.execute("")
    except Error:
        return False
    return True

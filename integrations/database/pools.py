"""Pooled database connections: not held while the network is waited for, nor waited for while
there is no server to connect to."""

from typing import Any

from django.db import connections
from psycopg import Connection
from psycopg_pool import ConnectionPool, PoolTimeout


class Pool(ConnectionPool[Connection[Any]]):
    """psycopg's, which goes on trying to reach a server that is away, `reconnect_timeout` seconds
    after `reconnect_timeout` seconds, until it is back. One connection is tried at a time, however
    many are wanted.

    With `refuses_while_away` nobody waits for that: once the pool has given up and has no
    connection left, those who wait and those who come hear PoolTimeout at once. While it has some,
    they wait for one to come back, as many others' connections are no sign of a server's end.
    """

    def __init__(self, *, refuses_while_away: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self._refuses_while_away = refuses_while_away
        self._is_away = False

    def getconn(self, timeout: float | None = None) -> Connection[Any]:
        if self._is_away:
            raise PoolTimeout(f"the server of {self.name!r} was away a moment ago")
        return super().getconn(timeout)

    def _connect(self, timeout: float | None = None) -> Connection[Any]:
        found = super()._connect(timeout)
        self._is_away = False
        return found

    def reconnect_failed(self) -> None:
        with self._lock:
            is_empty, is_wanted = not self._nconns, bool(self._waiting)
            refused = []
            if is_empty and self._refuses_while_away:
                self._is_away = True
                refused = list(self._waiting)
                self._waiting.clear()
        for client in refused:
            client.fail(PoolTimeout(f"the server of {self.name!r} is away"))
        if is_empty or is_wanted:
            self.check()  # which tries to have one more


def release_connections() -> None:
    """Give this thread's pooled connections back, but for one inside a transaction."""
    for connection in connections.all(initialized_only=True):
        if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
            connection.close()

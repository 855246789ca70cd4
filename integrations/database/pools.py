"""Pooled database connections are not held while the network is waited for."""

from django.db import connections


def release_connections() -> None:
    """Give this thread's pooled connections back, but for one inside a transaction."""
    for connection in connections.all(initialized_only=True):
        if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
            connection.close()

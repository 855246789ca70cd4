"""The database's clock, for what processes on many machines must agree about: leases, waits, tries.

A process whose own clock is an hour ahead would hold what it works on an hour after its death. So
it counts on, by a clock that nobody sets, from what the database said last.
"""

import time
from datetime import datetime, timedelta

from django.db import connection

KEPT_SECONDS = 30.0  # two statements a minute; a machine that slept hears soon


class _Clock:
    def __init__(self) -> None:
        self._heard: tuple[datetime, float] | None = None

    def now(self) -> datetime:
        """What time the database has, or had when it answered: never a later one, by which somebody
        would take what another still holds. Raises DatabaseError."""
        heard = self._heard
        if heard is None or time.monotonic() - heard[1] > KEPT_SECONDS:
            heard = self._heard = (_ask(), time.monotonic())
        return heard[0] + timedelta(seconds=time.monotonic() - heard[1])


def _ask() -> datetime:
    connection.ensure_connection()
    with connection.wrap_database_errors:
        row = connection.connection.execute("SELECT clock_timestamp()").fetchone()
    found: datetime = row[0]
    return found


now = _Clock().now

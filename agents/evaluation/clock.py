"""A task's clock: it stands at the time that the task names, and Remit takes it for the present.

It moves a thousandth as fast as time does, so that what comes later has a later time, and a prompt
names the same minute in each run. The database's clock, which dates rows of the ledger, goes on.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from django.utils import timezone

SLOWER = 1000


class Clock:
    def __init__(self, moment: datetime) -> None:
        self.stand_at(moment)

    def stand_at(self, moment: datetime) -> None:
        self._moment, self._since = moment.astimezone(UTC), time.monotonic()

    def now(self) -> datetime:
        return self._moment + timedelta(seconds=(time.monotonic() - self._since) / SLOWER)


@contextmanager
def taken_for_the_present(clock: Clock) -> Iterator[None]:
    """All of this process goes by this clock while the block lasts."""
    present = timezone.now
    timezone.now = clock.now
    try:
        yield
    finally:
        timezone.now = present

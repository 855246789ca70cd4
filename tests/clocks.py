"""A machine whose clock is wrong, or is set while it works."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from unittest import mock

from django.utils import timezone

HOUR = timedelta(hours=1)
# Forward and right again, back and right again.
JUMPS = (timedelta(), HOUR, timedelta(), -HOUR, timedelta())


@contextmanager
def clock_off(by: timedelta) -> Iterator[None]:
    """This process's clock is ahead by so much, or behind, until the block ends."""
    right = timezone.now

    def now() -> datetime:
        return right() + by

    with mock.patch.object(timezone, "now", now):
        yield

"""A machine whose clock is wrong, or is set while it works."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from unittest import mock

from django.core import signing
from django.utils import timezone

HOUR = timedelta(hours=1)
# Forward and right again, back and right again.
JUMPS = (timedelta(), HOUR, timedelta(), -HOUR, timedelta())


@contextmanager
def clock_off(by: timedelta) -> Iterator[None]:
    """This process's clock is ahead by so much, or behind, until the block ends."""
    right, seconds = timezone.now, time.time

    def now() -> datetime:
        return right() + by

    # Signed texts take the seconds of the machine.
    signed = mock.Mock(time=lambda: seconds() + by.total_seconds())
    with mock.patch.object(timezone, "now", now), mock.patch.object(signing, "time", signed):
        yield

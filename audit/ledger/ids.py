"""Action ids: UUID version 7 (RFC 9562), so that ids order actions by time."""

import os
import secrets
import threading
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

RANDOM_BITS = 74
VERSION_AND_VARIANT = 7 << 76 | 2 << 62
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Sequence:
    """Ids that only grow, also within one millisecond and when the clock steps back."""

    def __init__(self) -> None:
        self.start_over()

    def start_over(self) -> None:
        self.lock = threading.Lock()
        self.milliseconds = 0
        self.random = 0

    def next(self) -> UUID:
        with self.lock:
            now = time.time_ns() // 1_000_000
            if now > self.milliseconds:
                self.milliseconds = now
                # The highest bit stays free, so that counting up cannot overflow.
                self.random = secrets.randbits(RANDOM_BITS - 1)
            else:
                self.random += 1
            return assemble(self.milliseconds, self.random)


def assemble(milliseconds: int, random: int) -> UUID:
    high, low = random >> 62, random & (1 << 62) - 1
    return UUID(int=milliseconds << 80 | high << 64 | low | VERSION_AND_VARIANT)


sequence = Sequence()
# A forked child must not go on with the numbers (or the held lock) of its parent.
os.register_at_fork(after_in_child=sequence.start_over)


def uuid7() -> UUID:
    """A new id, greater than every id this process made before."""
    return sequence.next()


def floor(at: datetime) -> UUID:
    """The smallest id of the millisecond of `at`: ids below it were made earlier. No id says
    that it was made before 1970."""
    return assemble(max((at - EPOCH) // timedelta(milliseconds=1), 0), 0)


def moment(action_id: UUID) -> datetime:
    """When `action_id` was made, by the clock of the process that made it."""
    return EPOCH + timedelta(milliseconds=action_id.int >> 80)

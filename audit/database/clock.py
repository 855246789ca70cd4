"""The database server's clock, which dates every row, watched by the sealer."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connections

from audit.contracts import LEDGER_TENANT
from audit.ledger import events, ledger, selectors
from audit.ledger.routing import LEDGER

ACTION_TYPE = "ledger.clock"
STEP = timedelta(seconds=1)
# Two sealers see a step within a tick of each other.
SAME = timedelta(seconds=5)
NEWEST = "SELECT recorded_at FROM audit_action ORDER BY id DESC LIMIT 1"
RECORD = "SELECT audit_clock_step(%s, %s, %s)"


@dataclass(frozen=True)
class Reading:
    """What the server's clock said, between two readings of this process's own, which never
    goes back."""

    at: datetime
    after: float
    before: float

    def at_earliest(self, later: "Reading") -> datetime:
        """What it must say at least when `later` is read."""
        return self.at + timedelta(seconds=later.after - self.before)


def read_clock() -> Reading:
    after = time.monotonic()
    with connections[LEDGER].cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (at,) = cursor.fetchone()
    return Reading(at=at, after=after, before=time.monotonic())


class Watch:
    """Looks at the server's clock now and then."""

    def __init__(self, read: Callable[[], Reading] = read_clock) -> None:
        self.read = read
        self.last: Reading | None = None

    def look(self) -> timedelta | None:
        """Record that the clock stepped back by more than a second since the last look or, at
        the first one, behind the newest row, and return by how much. Once for each step: what
        could not be recorded is found again by the next look."""
        found = self.read()
        expected = self.last.at_earliest(found) if self.last else find_newest()
        step = expected - found.at if expected else timedelta()
        if step > STEP and expected:
            record(expected, found.at)
        self.last = found
        return step if step > STEP else None


def find_newest() -> datetime | None:
    """When the newest row was recorded."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(NEWEST)
        row = cursor.fetchone()
    return row[0] if row else None


def record(expected: datetime, found: datetime) -> None:
    """One control row about this step, unless another sealer has just recorded it."""
    last = selectors.about_ledger(LEDGER_TENANT, ACTION_TYPE, limit=1)
    if last and abs(last[0].recorded_at - found) < SAME:
        return
    seconds = (expected - found).total_seconds()
    entry = events.build_entry(
        ACTION_TYPE,
        tenant_id=LEDGER_TENANT,
        payload={
            "sentence": f"The database server's clock went back by {seconds:,.1f} s.",
            "expected": expected.astimezone(UTC).isoformat(),
            "found": found.astimezone(UTC).isoformat(),
        },
    )
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(RECORD, ledger.in_the_clear(entry))

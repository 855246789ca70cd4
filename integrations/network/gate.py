"""The pace and the circuit of one data service, shared by all processes through one row.

Every try of every request passes. The pace is a virtual schedule (GCRA, the leaky bucket of
ITU-T I.371): a short burst goes through, then DATA_SERVICE_RATE requests a second. When the
service asks Remit to wait, all processes wait. After CIRCUIT_FAILURES unanswered requests
in a row the circuit opens: nothing is sent for a while, then one request tries. Requests that were
under way when it opened count no more: many in one bad moment would keep it shut for minutes.

While all goes well and there is room, a process takes HANDFUL slots with one write and uses them
within HAND_SECONDS. So when another process meets trouble, this one may still send what it has
in hand: at most that many requests, for at most that long. Its threads take one after another, and
who waited uses what the one before took.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic, sleep

from django.conf import settings
from django.db import DatabaseError, connection

from integrations.database.pools import release_connections
from integrations.exceptions import CircuitOpen, ProviderError, RateLimited, Unavailable

log = logging.getLogger(__name__)

CIRCUIT_FAILURES = 8
OPEN_SECONDS = 15.0
MAX_OPEN_SECONDS = 300.0
PROBE_SECONDS = 30.0  # how long the one request that tries keeps the others out
MAX_WAIT_SECONDS = 20.0
MAX_BLOCK_SECONDS = 3_600.0
USUAL_BLOCK_SECONDS = 1.0
HANDFUL = 16
HAND_SECONDS = 1.0
SHARE_OF_ROOM = 4  # of the burst that is left, the rest is for other processes

# The clock is the database's: processes on several machines have one.
_TAKE = """
INSERT INTO integrations_upstream AS it (name, next_at, failures, last_error)
VALUES (%(name)s, clock_timestamp() + (%(step)s - %(burst)s) * interval '1 second', 0, '')
ON CONFLICT (name) DO UPDATE SET
    next_at = GREATEST(it.next_at, clock_timestamp() - %(burst)s * interval '1 second')
        + %(step)s * interval '1 second',
    opened_until = CASE WHEN it.opened_until IS NULL THEN NULL
        ELSE clock_timestamp() + %(probe)s * interval '1 second' END
WHERE (it.opened_until IS NULL OR it.opened_until <= clock_timestamp())
    AND GREATEST(
        it.next_at, clock_timestamp() - %(burst)s * interval '1 second', it.blocked_until
    ) + %(step)s * interval '1 second' <= clock_timestamp() + %(most)s * interval '1 second'
RETURNING extract(epoch FROM GREATEST(next_at, blocked_until) - clock_timestamp()), failures > 0,
    opened_until IS NOT NULL
"""
_WHY_NOT = """
SELECT extract(epoch FROM opened_until - clock_timestamp()),
    extract(epoch FROM GREATEST(next_at + %(step)s * interval '1 second', blocked_until)
        - clock_timestamp())
FROM integrations_upstream WHERE name = %(name)s
"""
_BLOCK = """
UPDATE integrations_upstream SET failures = 0, opened_until = NULL,
    blocked_until = GREATEST(blocked_until, clock_timestamp() + %(wait)s * interval '1 second'),
    last_error = %(error)s, last_error_at = clock_timestamp()
WHERE name = %(name)s
"""
_FAILED = """
UPDATE integrations_upstream SET failures = failures + 1,
    opened_until = CASE WHEN failures + 1 < %(most)s THEN opened_until ELSE clock_timestamp()
        + LEAST(%(longest)s, %(open)s * power(2, (failures + 1 - %(most)s) / 2))
        * interval '1 second' END,
    last_error = %(error)s, last_error_at = clock_timestamp()
WHERE name = %(name)s AND (opened_until IS NULL OR %(is_probe)s) RETURNING failures
"""
_ANSWERED = """
UPDATE integrations_upstream SET failures = 0, opened_until = NULL WHERE name = %(name)s
"""


@dataclass
class _Hand:
    """Slots of one service that this process has taken and not used yet."""

    left: int = 0
    until: float = 0.0  # on the monotonic clock
    next_take: int = 1
    taking: Lock = field(default_factory=Lock)

    def use(self) -> bool:
        if not self.left or monotonic() > self.until:
            return False
        self.left -= 1
        return True

    def fill(self, taken: int, room: float) -> None:
        """`taken` slots are there now, one of them in use; `room` were left for all."""
        self.left, self.until = taken - 1, monotonic() + HAND_SECONDS
        self.next_take = max(1, min(HANDFUL, int(room / SHARE_OF_ROOM)))

    def drop(self) -> None:
        self.left, self.next_take = 0, 1


_HANDS: dict[str, _Hand] = {}
_LOCK = Lock()


def forget_slots() -> None:
    """Drop the slots in hand, of all services."""
    with _LOCK:
        _HANDS.clear()


class Gate:
    """The way to the data service of one organisation."""

    def __init__(self, name: str) -> None:
        self.name = name

    @contextmanager
    def slot(self) -> Iterator[None]:
        """One request: waits for a slot, and takes note of how it went.

        Raises CircuitOpen or RateLimited when nothing may be sent now (then nothing was);
        what the request itself raises goes through.
        """
        suspect, is_probe = self._enter()
        release_connections()
        try:
            yield
        except ProviderError as error:
            self._note(error, suspect=suspect, is_probe=is_probe)
            raise
        if suspect:
            self._write(_ANSWERED)
            log.info("upstream.answers_again", extra={"upstream": self.name})

    def _enter(self) -> tuple[bool, bool]:
        """Wait for a slot. Whether the request before had no answer, and whether this is the one
        that tries while the circuit is open."""
        with _LOCK:
            hand = _HANDS.setdefault(self.name, _Hand())
            if hand.use():
                return False, False
        connection.ensure_connection()  # who is at it never waits for one that a waiting thread has
        with hand.taking:
            with _LOCK:
                if hand.use():
                    return False, False
            wait, suspect, is_probe = self._take(hand)
        if wait > 0:
            release_connections()
            sleep(wait)
        return suspect, is_probe

    def _take(self, hand: _Hand) -> tuple[float, bool, bool]:
        """Seconds to wait for the slot that was taken, and what `_enter` says of it."""
        taken, rate = hand.next_take, settings.DATA_SERVICE_RATE
        pace = {
            "step": taken / rate,
            "burst": settings.DATA_SERVICE_BURST / rate,
            "probe": PROBE_SECONDS,
            "most": MAX_WAIT_SECONDS,
            "name": self.name,
        }
        with connection.cursor() as cursor:
            cursor.execute(_TAKE, pace)
            row = cursor.fetchone()
            if row is None:
                cursor.execute(_WHY_NOT, pace)
                opened, wait = cursor.fetchone() or (None, None)
                if opened is not None and opened > 0:
                    raise CircuitOpen("the circuit is open", retry_after=float(opened))
                raise RateLimited(
                    "the service asked Remit to wait",
                    retry_after=float(wait or USUAL_BLOCK_SECONDS),
                )
        wait, suspect, is_probe = row
        with _LOCK:
            if suspect or wait > 0:
                hand.drop()
            else:
                hand.fill(taken, room=-float(wait) * rate)
        return float(wait), bool(suspect), bool(is_probe)

    def _note(self, error: ProviderError, *, suspect: bool, is_probe: bool) -> None:
        if isinstance(error, (RateLimited, Unavailable)):
            with _LOCK:
                _HANDS.pop(self.name, None)
        if isinstance(error, RateLimited):
            asked = USUAL_BLOCK_SECONDS if error.retry_after is None else error.retry_after
            self._write(_BLOCK, wait=min(asked, MAX_BLOCK_SECONDS), error=error.code)
        elif isinstance(error, Unavailable):
            limits = {"longest": MAX_OPEN_SECONDS, "open": OPEN_SECONDS, "most": CIRCUIT_FAILURES}
            failures = self._write(_FAILED, error=str(error)[:200], is_probe=is_probe, **limits)
            if failures is not None and failures >= CIRCUIT_FAILURES:
                log.warning(
                    "upstream.circuit_opened", extra={"upstream": self.name, "failures": failures}
                )
        elif suspect:
            self._write(_ANSWERED)  # a refusal is an answer

    def _write(self, statement: str, **values: float | str) -> int | None:
        """What came of the request is known already and must not be lost to a note of it."""
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, {"name": self.name, **values})
                row = cursor.fetchone() if cursor.description else None
        except DatabaseError:
            log.exception("upstream.not_noted", extra={"upstream": self.name})
            return None
        finally:
            release_connections()
        return row[0] if row else None

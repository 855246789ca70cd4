"""The right to write a turn. One process has it at a time; it lapses when that process dies.

While a turn is worked on in this process a heartbeat renews its lease, however long a model or
a tool is waited for. A lease that another process has taken is never won back: every write
proves it first.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, connection, connections, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from agents.models import ToolCall, Turn
from integrations.database import clock

log = logging.getLogger(__name__)
T = TypeVar("T")
BEATS = 3  # in the time of a lease
# Everything a turn waits for has a time-out; what hangs nevertheless gets no heartbeat for ever.
LONGEST_SECONDS = 900.0


# Before every row of a turn, and of a chat's text several times a second. One that is as good as
# new stays: its time is indexed, and each change of it is a new entry in every index of the turn.
RENEWED = """
CASE WHEN lease_expires_at > %(soon)s THEN lease_expires_at ELSE %(until)s END"""
_RENEW = f"""
UPDATE agents_turn SET lease_expires_at = {RENEWED}
WHERE id = %(turn)s AND lease_owner = %(owner)s AND state = 'running'
"""  # noqa: S608  # only constants


class LeaseLost(Exception):
    """Another process works on this turn now: stop, write nothing more."""


@dataclass(frozen=True, kw_only=True)
class Lease:
    """The right to write one turn. Made by `claim`, `claim_waiting` and `open_claimed`."""

    turn_id: UUID
    owner: UUID
    attempts: int = 1  # how often work on it has begun
    is_new: bool = False  # the turn was made with it: nothing was done or asked before

    @contextmanager
    def held(self, **changes: Any) -> Iterator[None]:
        """A transaction that starts by proving the lease, renewed where that is due, and makes
        these changes to the turn's row with it. Raises LeaseLost."""
        with transaction.atomic():
            if not (self._change(changes) if changes else self._renew()):
                raise LeaseLost
            yield

    def _change(self, changes: Mapping[str, Any]) -> int:
        mine = Turn.objects.filter(
            id=self.turn_id, lease_owner=self.owner, state=Turn.State.RUNNING
        )
        return mine.update(**{"lease_expires_at": lease_end(), **changes})

    def _renew(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute(_RENEW, {"turn": self.turn_id, "owner": self.owner, **renewal()})
            renewed: int = cursor.rowcount
        return renewed


def lease_end() -> datetime:
    return clock.now() + timedelta(seconds=settings.TURN_LEASE_SECONDS)


def renewal() -> dict[str, datetime]:
    """What RENEWED is given: a lease gets its whole time when less than two thirds are left."""
    until = lease_end()
    return {"until": until, "soon": until - timedelta(seconds=settings.TURN_LEASE_SECONDS / BEATS)}


_CLAIM = """
UPDATE agents_turn SET state = 'running', lease_owner = %s, lease_expires_at = %s,
    attempts = attempts + 1
WHERE id = %s AND (state = 'queued' OR (state = 'running' AND lease_expires_at < %s))
RETURNING attempts
"""


def claim(turn_id: UUID) -> Lease | None:
    """Take a turn that waits, or whose process died. None when it is finished, or another
    process has it."""
    owner = uuid4()
    with connection.cursor() as cursor:  # for which it may have waited
        cursor.execute(_CLAIM, [owner, lease_end(), turn_id, clock.now()])
        row = cursor.fetchone()
    return Lease(turn_id=turn_id, owner=owner, attempts=row[0]) if row else None


_COLUMNS = ", ".join(str(field.column) for field in Turn._meta.concrete_fields)
# Also for a statement that stores what the turn is about.
OPEN = f"""
INSERT INTO agents_turn ({_COLUMNS})
SELECT {_COLUMNS} FROM jsonb_populate_record(NULL::agents_turn, %s::jsonb) {{condition}}
ON CONFLICT DO NOTHING RETURNING id
"""  # noqa: S608  # only constants


class Opening(NamedTuple):
    """A turn that nobody has stored yet: the lease to it, and what OPEN is given."""

    lease: Lease
    row: str


def prepare(**fields: Any) -> Opening:
    """A turn that the caller works on at once."""
    owner = uuid4()
    turn = Turn(
        state=Turn.State.RUNNING,
        lease_owner=owner,
        lease_expires_at=lease_end(),
        attempts=1,
        **fields,
    )
    row = {field.column: field.pre_save(turn, True) for field in Turn._meta.concrete_fields}
    lease = Lease(turn_id=turn.id, owner=owner, is_new=True)
    return Opening(lease, json.dumps(row, default=str))


def open_claimed(**fields: Any) -> Lease | None:
    """Make a turn that the caller works on at once. None where there is one already."""
    lease, row = prepare(**fields)
    with connection.cursor() as cursor:
        cursor.execute(OPEN.format(condition=""), [row])
        return lease if cursor.fetchone() else None


# By the clock of the database itself, for those too that are queued: what two processes know of it
# differs by milliseconds, and a turn that seems to wait from later on is found a second later.
_WAITING = """
    SELECT id FROM agents_turn
    WHERE kind = 'chat' AND state IN ('queued', 'running')
        AND lease_expires_at <= statement_timestamp()
    ORDER BY lease_expires_at {order} LIMIT %({most})s FOR UPDATE SKIP LOCKED
"""
_CLAIM_WAITING = f"""
WITH oldest AS ({_WAITING.format(order="ASC", most="oldest")}),
newest AS ({_WAITING.format(order="DESC", most="newest")})
UPDATE agents_turn SET state = 'running', lease_owner = %(owner)s, lease_expires_at = %(until)s,
    attempts = attempts + 1
WHERE id IN (SELECT id FROM oldest UNION SELECT id FROM newest)
RETURNING id
"""  # noqa: S608  # only constants


def claim_waiting(most: int) -> list[Lease]:
    """Take chat turns that wait for a process, or whose process died (`list_waiting`), at most so
    many: half of them those that wait longest, half the newest, so that in a rush nobody is
    forgotten and who comes now does not wait behind all of it. No turn is given to two processes.
    One statement."""
    owner = uuid4()
    with connection.cursor() as cursor:  # for which it may have waited
        given: dict[str, Any] = {
            "owner": owner,
            "until": lease_end(),
            "oldest": most - most // 2,
            "newest": most // 2,
        }
        cursor.execute(_CLAIM_WAITING, given)
        return [Lease(turn_id=id, owner=owner) for (id,) in cursor.fetchall()]


def list_waiting(*, now: datetime) -> QuerySet[Turn]:
    """Chat turns that wait for a process. They are many where none runs."""
    return Turn.objects.filter(
        kind=Turn.Kind.CHAT,
        state__in=[Turn.State.QUEUED, Turn.State.RUNNING],
        lease_expires_at__lte=now,
    )


def release(lease: Lease) -> None:
    """Give the turn of an inbound item back, to be taken up again with its delivery. It ended in a
    known way, so it does not count as an attempt that broke off."""
    Turn.objects.filter(id=lease.turn_id, lease_owner=lease.owner).update(
        state=Turn.State.QUEUED, lease_owner=None, lease_expires_at=None, attempts=0
    )


def hand_back(leases: Collection[Lease]) -> int:
    """Let another process have these turns at once; how many. One that may be acting is left to
    its lease, as after a crash."""
    with transaction.atomic():
        ids = [
            turn.id
            for turn in _held(leases).select_for_update().only("decisions")
            if not may_be_acting(turn)
        ]
        return Turn.objects.filter(id__in=ids).update(
            state=Turn.State.QUEUED, lease_owner=None, lease_expires_at=Now()
        )


def may_be_acting(turn: Turn) -> bool:
    """Calls or decisions are being carried out, or would be by who takes the turn up again."""
    undecided = any("status" not in decision for decision in turn.decisions)
    open_calls = ToolCall.objects.filter(turn=turn, result__isnull=True)
    return undecided or open_calls.exists()


def _held(leases: Collection[Lease]) -> QuerySet[Turn]:
    return Turn.objects.filter(
        id__in=[lease.turn_id for lease in leases],
        lease_owner__in={lease.owner for lease in leases},
        state=Turn.State.RUNNING,
    )


class Heartbeat(Generic[T]):
    """Renews the leases of what this process works on, by `renew`, in one statement. Its thread
    lives while there are any."""

    def __init__(self, renew: Callable[[Collection[T]], object]) -> None:
        self._renew = renew
        self._lock = threading.Lock()
        self._until: dict[T, float] = {}
        self._first = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def keep(self, lease: T) -> Iterator[None]:
        """Renew the lease while the block lasts."""
        with self._lock:
            if not self._until:
                self._first.set()
            self._until[lease] = time.monotonic() + LONGEST_SECONDS
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                del self._until[lease]

    def _beat(self) -> None:
        while True:
            if self._first.wait(settings.TURN_LEASE_SECONDS / BEATS):
                self._first.clear()  # a beat is counted from the first lease on
                continue
            with self._lock:
                if not self._until:
                    self._thread = None
                    return
                now = time.monotonic()
                leases = [lease for lease, until in self._until.items() if until > now]
            try:
                self._renew(leases)
            except DatabaseError:
                log.exception("leases.not_renewed")
            finally:
                connections.close_all()


def _renew(leases: Collection[Lease]) -> None:
    _held(leases).update(lease_expires_at=lease_end())


HEARTBEAT = Heartbeat(_renew)

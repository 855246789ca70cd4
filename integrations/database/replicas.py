"""Reads from a streaming replica of the database (DATABASE_REPLICA_URL).

Nothing that decides is read there: a replica is behind. Two kinds of reads may go there. Those of a
page or a search that its view marks with `read`, of the tables in MAY_BE_STALE alone, if the
replica is at most DATABASE_REPLICA_LAG seconds behind. And those that name a place in the
primary's log (the hint `written_until` of `router.db_for_read`), once the replica has got there:
they find what the primary would have.

A replica that is away, further behind, or breaks off is passed over: the primary answers. A log
line says so (`replica.passed_over`).
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

log = logging.getLogger(__name__)

REPLICA = "replica"
# Apps and models whose rows a marked page may find as they were a moment ago. Who may see them
# (users, members, accounts, tokens) and all that decides (policy, approvals, stops) is not here.
MAY_BE_STALE = frozenset(
    {
        "audit",
        "knowledge",
        *("agents.turn", "agents.step", "agents.toolcall", "agents.conversation"),
        *("agents.message", "agents.suggestion", "agents.dailydigest", "agents.pastmail"),
        *("integrations.delivery", "integrations.modelcall", "guardrails.patternhit"),
    }
)
SAMPLE_SECONDS = 1.0  # how long the primary's place in its log is taken for the present one
REST_SECONDS = 5.0  # how long a replica that could not be used is left alone
CATCH_UP_SECONDS = 1.0  # how long a long read waits for a replica that is nearly there
LOOK_SECONDS = 0.02

_PRIMARY = "SELECT pg_current_wal_insert_lsn()::text, clock_timestamp()"
_STANDBY = """
SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() >= %s::pg_lsn, pg_last_xact_replay_timestamp()
"""


T = TypeVar("T")
_marked: ContextVar[bool] = ContextVar("marked", default=False)


class ReplicaRouter:
    """Names the replica for what may be read there, and has no opinion on the rest."""

    def db_for_read(self, model: type, **hints: Any) -> str | None:
        meta: Any = model._meta  # type: ignore[attr-defined]
        # Django's DatabaseCache asks with no more of a model than these two.
        if not MAY_BE_STALE & {meta.app_label, f"{meta.app_label}.{meta.model_name}"}:
            return None
        if place := hints.get("written_until"):
            return REPLICA if is_set() and standby.reaches(place) else None
        return REPLICA if _marked.get() else None

    def db_for_write(self, model: type, **hints: Any) -> str | None:
        return None

    def allow_relation(self, first: Any, second: Any, **hints: Any) -> bool | None:
        """Rows of the replica are rows of the primary."""
        return True if REPLICA in (first._state.db, second._state.db) else None

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        return False if db == REPLICA else None


def is_set() -> bool:
    return REPLICA in connections.settings


def read(load: Callable[[datetime | None], T]) -> T:
    """What `load` returns, from the replica where that can be. It gets the time, by the primary's
    clock, before which all that was committed is found; None: of now. It writes nothing: where the
    replica fails it is called again, and reads from the primary."""
    as_of = standby.as_of() if is_set() else None
    if as_of is None:
        return load(None)
    try:
        with marked():
            return load(as_of)
    except (DatabaseError, InterfaceError) as error:
        standby.pass_over(type(error.__cause__ or error).__name__)
        return load(None)


@contextmanager
def marked() -> Iterator[None]:
    """What is read in this block may be stale."""
    token = _marked.set(True)
    try:
        yield
    finally:
        _marked.reset(token)


@dataclass(frozen=True)
class Sample:
    """Where the primary was in its log, by its own clock."""

    place: str
    at: datetime
    counted: float

    def now(self) -> datetime:
        return self.at + timedelta(seconds=time.monotonic() - self.counted)


class Standby:
    """How far the replica is, for all threads of this process."""

    def __init__(self) -> None:
        self._sample: Sample | None = None
        self._rests_until = float("-inf")

    def as_of(self) -> datetime | None:
        """The time of which its rows are; None where it may not be used."""
        if time.monotonic() < self._rests_until:
            return None
        sample = self._primary()
        found = self._look(sample.place)
        if found is None:
            return None
        reached, replayed = found
        as_of = sample.at if reached else replayed
        if as_of is None or sample.now() - as_of > timedelta(seconds=settings.REPLICA_LAG_SECONDS):
            self.pass_over("behind")
            return None
        return as_of

    def reaches(self, place: str) -> bool:
        """Whether it has what the primary wrote until this place of its log; waits for one that
        nearly has."""
        deadline = time.monotonic() + CATCH_UP_SECONDS
        if time.monotonic() < self._rests_until:
            return False
        while found := self._look(place):
            if found[0]:
                return True
            if time.monotonic() > deadline:
                self.pass_over("behind")
                break
            time.sleep(LOOK_SECONDS)
        return False

    def pass_over(self, code: str) -> None:
        """Leave it alone for a while."""
        self._rests_until = time.monotonic() + REST_SECONDS
        log.warning("replica.passed_over", extra={"code": code})
        if not connections[REPLICA].in_atomic_block:
            connections[REPLICA].close()

    def forget(self) -> None:
        """As a process that has just begun."""
        self._sample, self._rests_until = None, float("-inf")

    def _primary(self) -> Sample:
        sample, counted = self._sample, time.monotonic()
        if sample is None or counted - sample.counted > SAMPLE_SECONDS:
            with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
                cursor.execute(_PRIMARY)
                place, at = cursor.fetchone()
            sample = self._sample = Sample(place, at, counted)
        return sample

    def _look(self, place: str) -> tuple[bool, datetime | None] | None:
        """Whether it is there, and of when the last transaction is that it has; None: it cannot be
        used."""
        try:
            with connections[REPLICA].cursor() as cursor:
                cursor.execute(_STANDBY, [place])
                is_standby, reached, replayed = cursor.fetchone()
        except (DatabaseError, InterfaceError) as error:
            self.pass_over(type(error.__cause__ or error).__name__)
            return None
        if not is_standby:  # it was promoted, or is the primary itself
            self.pass_over("not_a_standby")
            return None
        return bool(reached), replayed


standby = Standby()

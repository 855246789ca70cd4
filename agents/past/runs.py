"""A run over past mail as rows: what it is about, who works on it, and a person's word about it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from agents.journal.leases import Heartbeat
from agents.models import PastMail, PastRun
from integrations.contracts import AccountRef
from integrations.database import clock
from knowledge.contracts import StoredMail
from knowledge.search import mails

MOST = 10_000  # mails of one run
OPEN = (PastRun.State.QUEUED, PastRun.State.RUNNING, PastRun.State.PAUSED)
State = PastRun.State


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which mail a run is over: the newest `last` of those that came from `since` up to `until`,
    both included, and have the label or lie in the `folder`. `policy`: what a trial is under, as
    the plain data of a whole policy file; None: what holds at present."""

    last: int
    since: date | None = None
    until: date | None = None
    folder: str = ""
    folder_name: str = ""
    is_trial: bool = True
    writes_drafts: bool = False
    policy: Mapping[str, Any] | None = None


class AlreadyOpen(Exception):
    """The account has a run that is not over."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The right to work on a run. Another claim takes it away, and so does a person's word."""

    run_id: UUID
    number: int


def start(account: AccountRef, wanted: Wanted, *, by: str) -> PastRun:
    """Choose the mails and store the run, oldest mail first, so that what a thread came to stands
    last. Raises AlreadyOpen."""
    if wanted.policy is not None and not wanted.is_trial:
        raise ValueError("a policy that is not live is tried alone")
    chosen = find_mails(account, wanted)
    try:
        with transaction.atomic():
            run = PastRun.objects.create(
                account_id=account.id,
                started_by=by,
                lease_expires_at=_lease_end(clock.now()),
                **vars(wanted),
            )
            PastMail.objects.bulk_create(
                (
                    PastMail(
                        run=run,
                        position=position,
                        source_id=one.source_id,
                        thread_id=one.thread_id,
                        sender=one.sender[:320],
                        subject=one.subject[:500],
                        occurred_at=one.occurred_at,
                    )
                    for position, one in enumerate(reversed(chosen))
                ),
                batch_size=1000,
            )
    except IntegrityError as error:
        raise AlreadyOpen from error
    return run


def find_mails(account: AccountRef, wanted: Wanted) -> tuple[StoredMail, ...]:
    """The mails that a run is over, newest first; days are those of the account's zone."""
    zone = ZoneInfo(account.time_zone)
    end = wanted.until + timedelta(days=1) if wanted.until else None
    return mails.list_received(
        account.id,
        own_address=account.address,
        since=datetime.combine(wanted.since, time.min, zone) if wanted.since else None,
        until=datetime.combine(end, time.min, zone) if end else None,
        label=wanted.folder,
        limit=min(wanted.last, MOST),
    )


def pause(run_id: UUID, *, by: str) -> bool:
    """What is under way is finished, nothing new begins. False where it does not run."""
    return _say(run_id, (State.QUEUED, State.RUNNING), State.PAUSED, by=by)


def resume(run_id: UUID, *, by: str) -> bool:
    """False where it is not paused. The caller queues the work in the same transaction."""
    return _say(run_id, (State.PAUSED,), State.QUEUED, by=by)


def stop(run_id: UUID, *, by: str, now: datetime) -> bool:
    """For good; what was done stays. False where it is over."""
    return _say(run_id, OPEN, State.STOPPED, by=by, finished_at=now)


def _say(
    run_id: UUID,
    present: Collection[str],
    wanted: PastRun.State,
    *,
    by: str,
    finished_at: datetime | None = None,
) -> bool:
    return bool(
        PastRun.objects.filter(id=run_id, state__in=present).update(
            state=wanted,
            changed_by=by,
            waits_for="",
            claims=F("claims") + 1,
            lease_expires_at=_lease_end(clock.now()),
            finished_at=finished_at,
        )
    )


def claim(run_id: UUID, *, now: datetime) -> Claim | None:
    """Take a run that waits; one whose worker died waits again (`take_back`)."""
    with transaction.atomic():
        row = PastRun.objects.select_for_update().filter(id=run_id, state=State.QUEUED).first()
        if row is None:
            return None
        row.state, row.waits_for = State.RUNNING, ""
        row.claims += 1
        row.lease_expires_at = _lease_end(now)
        row.save(update_fields=["state", "waits_for", "claims", "lease_expires_at"])
        return Claim(run_id=run_id, number=row.claims)


def is_held(claimed: Claim) -> bool:
    return _held(claimed).exists()


def release(claimed: Claim) -> bool:
    """Let another task go on with it."""
    until = _lease_end(clock.now())
    return bool(_held(claimed).update(state=State.QUEUED, lease_expires_at=until))


def postpone(claimed: Claim, code: str, *, until: datetime) -> None:
    """Something is away: it is taken up again then."""
    _held(claimed).update(waits_for=code[:64], lease_expires_at=until)


def finish(claimed: Claim, *, now: datetime) -> None:
    _held(claimed).update(state=State.DONE, lease_expires_at=None, finished_at=now)


def take_back(*, now: datetime) -> list[UUID]:
    """Runs that nobody works on any more, or whose wait is over. In a transaction, in which the
    caller queues them."""
    rows = PastRun.objects.filter(
        state__in=(State.QUEUED, State.RUNNING), lease_expires_at__lt=now
    ).select_for_update(skip_locked=True)
    found = list(rows.values_list("id", flat=True))
    PastRun.objects.filter(id__in=found).update(
        state=State.QUEUED, claims=F("claims") + 1, lease_expires_at=_lease_end(now)
    )
    return found


def _held(claimed: Claim) -> QuerySet[PastRun]:
    return PastRun.objects.filter(
        id=claimed.run_id, claims=claimed.number, state=PastRun.State.RUNNING
    )


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.TURN_LEASE_SECONDS)


def _renew(claims: Collection[Claim]) -> None:
    for one in claims:
        _held(one).update(lease_expires_at=_lease_end(clock.now()))


HEARTBEAT = Heartbeat(_renew)

"""Syncs as they are asked for, looked at and cancelled."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Max, OuterRef

from integrations.contracts import Source
from integrations.models import Account
from integrations.models.accounts import MAX_WINDOW_DAYS
from integrations.ports import registry
from knowledge.contracts import SourceProgress, SyncProgress, SyncState
from knowledge.models import SyncRun, SyncSource

RESUMABLE_FOR = timedelta(days=1)
MAX_WINDOW = timedelta(days=MAX_WINDOW_DAYS)
OVERLAP = timedelta(minutes=5)  # clocks differ, and a change may be listed late
EMPTY_FOR = timedelta(days=1)
FORGOTTEN_AT_ONCE = 500
ACTIVE = (SyncSource.State.QUEUED, SyncSource.State.RUNNING)
ENDED_EARLY = (SyncSource.State.FAILED, SyncSource.State.CANCELLED)


@dataclass(frozen=True, kw_only=True)
class Requested:
    """`queued` are the syncs to be worked on; empty when one was running already."""

    run_id: UUID
    queued: tuple[UUID, ...]


@transaction.atomic
def request_sync(
    *,
    organisation_id: UUID,
    external_user_id: str,
    sources: Sequence[Source] = (),
    only_changes: bool = False,
    window: timedelta | None = None,
    now: datetime,
) -> Requested | None:
    """Make the rows of a sync of one user's accounts (of these sources, else of all): of the
    whole window (the account's or its source's own, if none is given), or of what changed since
    the last sync that reached its end.

    A sync of one of them that is still running is the answer, and nothing new is made. One
    that ended early within a day is continued at its last page, unless a window is given. None: no
    such account.
    Call it inside the transaction that queues the work, or do the work yourself.
    """
    accounts = Account.objects.filter(
        organisation_id=organisation_id,
        external_user_id=external_user_id,
        source__in=set(sources or registry.SYNCED).intersection(registry.SYNCED),
    ).select_related("organisation")
    # Two requests at once are answered one after the other.
    locked = list(accounts.order_by("pk").select_for_update(of=("self",), no_key=True))
    if not locked:
        return None
    running = SyncSource.objects.filter(account__in=locked, state__in=ACTIVE).first()
    if running is not None:
        return Requested(run_id=running.run_id, queued=())
    run = SyncRun.objects.create(
        organisation_id=organisation_id,
        external_user_id=external_user_id,
        only_changes=only_changes,
    )
    ids = [account.pk for account in locked]
    last_read = find_read_times(ids) if only_changes else {}
    earlier = _resumable(ids, now=now) if window is None else {}
    rows = []
    for account in locked:
        row = SyncSource(run=run, account=account, only_changes=account.pk in last_read)
        row.since = (
            last_read[account.pk] - OVERLAP
            if row.only_changes
            else now - (window or _window(account))
        )
        last = earlier.get(account.pk)
        if last and last.only_changes is row.only_changes:
            row.since, row.cursor = last.since, last.cursor
        rows.append(row)
    SyncSource.objects.bulk_create(rows)
    return Requested(run_id=run.pk, queued=tuple(row.pk for row in rows))


def _window(account: Account) -> timedelta:
    """How far back a whole sync of it reads: as its operator says, else as its source has it."""
    if account.window_days:
        return timedelta(days=account.window_days)
    return registry.BY_SOURCE[account.source].window


def find_read_times(account_ids: Sequence[UUID]) -> dict[UUID, datetime]:
    """When the last sync began that read each account to its end. What changed at the provider
    later than that may not be known."""
    rows = (
        SyncSource.objects.filter(account__in=account_ids, state=SyncSource.State.DONE)
        .order_by("account_id", "-created_at")
        .distinct("account_id")
    )
    return dict(rows.values_list("account_id", "created_at"))


def _resumable(account_ids: Sequence[UUID], *, now: datetime) -> dict[UUID, SyncSource]:
    """The last sync of each account, where it ended early and not long ago."""
    last = (
        SyncSource.objects.filter(account__in=account_ids, finished_at__gt=now - RESUMABLE_FOR)
        .order_by("account_id", "-finished_at")
        .distinct("account_id")
    )
    return {sync.account_id: sync for sync in last if sync.state in ENDED_EARLY and sync.cursor}


def list_due(*, every: timedelta, now: datetime, limit: int) -> list[tuple[UUID, str, Source]]:
    """(organisation, user, source) of accounts that were read to their end once, and of which
    no sync began for so long. Those that waited longest come first."""
    rows = (
        Account.objects.annotate(
            last_at=Max("syncs__created_at"),
            read=Exists(SyncSource.objects.filter(account=OuterRef("pk"), state="done")),
            active=Exists(SyncSource.objects.filter(account=OuterRef("pk"), state__in=ACTIVE)),
        )
        .filter(read=True, active=False, last_at__lte=now - every, source__in=registry.SYNCED_AGAIN)
        .order_by("last_at")
    )
    return [
        (row.organisation_id, row.external_user_id, row.ref().source)
        for row in rows.select_related("organisation")[:limit]
    ]


def forget_empty(*, now: datetime) -> int:
    """Remove syncs of changes that found nothing, a day later; how many rows. A schedule would
    leave a hundred a day for each account."""
    received = SyncSource.objects.filter(run=OuterRef("pk"), received__gt=0)
    empty = SyncRun.objects.filter(
        ~Exists(received), only_changes=True, finished_at__lt=now - EMPTY_FOR
    )
    count, _ = SyncRun.objects.filter(
        pk__in=list(empty.values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE])
    ).delete()
    return count


def settle(run_id: UUID, *, now: datetime) -> None:
    """Finish a run whose last source has ended, in the transaction that ended it."""
    run = (
        SyncRun.objects.select_for_update(of=("self",))
        .select_related("organisation")
        .get(pk=run_id)
    )
    if run.finished_at or SyncSource.objects.filter(run=run, state__in=ACTIVE).exists():
        return
    run.finished_at = now
    if run.organisation.slug in settings.SYNC_CALLBACKS and not run.only_changes:
        run.callback, run.callback_due_at = SyncRun.Callback.WAITING, now
    run.save(update_fields=["finished_at", "callback", "callback_due_at"])


def cancel(run_id: UUID, *, now: datetime) -> None:
    """Stop a sync. What a worker is just reading is not stored as progress any more."""
    with transaction.atomic():
        SyncSource.objects.filter(run_id=run_id, state__in=ACTIVE).update(
            state=SyncSource.State.CANCELLED, finished_at=now, lease_expires_at=None
        )
        settle(run_id, now=now)


def load_progress(*, organisation_id: UUID, run_id: UUID, now: datetime) -> SyncProgress | None:
    """How far a sync of this organisation is. Two queries."""
    run = SyncRun.objects.filter(pk=run_id, organisation_id=organisation_id).first()
    if run is None:
        return None
    rows = SyncSource.objects.filter(run=run).select_related("account").order_by("account__source")
    sources = tuple(describe_source(row, now=now) for row in rows)
    return SyncProgress(
        id=run.pk,
        external_user_id=run.external_user_id,
        only_changes=run.only_changes,
        state=combine_states([source.state for source in sources]),
        created_at=run.created_at,
        finished_at=run.finished_at,
        sources=sources,
    )


def combine_states(states: Sequence[SyncState]) -> SyncState:
    """The state of the whole from those of its parts. A whole without parts is done."""
    order: tuple[SyncState, ...] = ("running", "queued", "failed", "cancelled", "done")
    if "queued" in states and set(states) != {"queued"}:
        return "running"
    return next((state for state in order if state in states), "done")


def describe_source(row: SyncSource, *, now: datetime) -> SourceProgress:
    """How far one account is. Needs `account` loaded."""
    percent, eta = None, None
    if row.state == SyncSource.State.DONE:
        percent = 100
    elif row.remaining is not None and row.received:
        percent = min(99, 100 * row.received // (row.received + row.remaining))
        if row.state == SyncSource.State.RUNNING and row.started_at:
            spent = (now - row.started_at).total_seconds()
            eta = max(1, round(row.remaining * spent / row.received))
    return SourceProgress(
        source=row.account.source,
        account_id=row.account_id,
        state=row.state,  # type: ignore[arg-type]  # choices are SyncState's
        received=row.received,
        processed=row.processed,
        skipped=row.skipped,
        failed=row.failed,
        remaining=row.remaining,
        percent=percent,
        eta_seconds=eta,
        reasons=row.reasons,
        restarts=row.restarts,
        started_at=row.started_at,
        finished_at=row.finished_at,
        next_try_at=row.lease_expires_at if row.waiting_since and row.state in ACTIVE else None,
        error=row.error,
    )

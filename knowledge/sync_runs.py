"""Syncs as they are asked for, looked at and cancelled."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from integrations import registry
from integrations.contracts import Source
from integrations.models import Account
from knowledge.contracts import SourceProgress, SyncProgress, SyncState
from knowledge.models import SyncRun, SyncSource

RESUMABLE_FOR = timedelta(days=1)
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
    now: datetime,
) -> Requested | None:
    """Make the rows of a sync of one user's accounts (of these sources, else of all).

    A sync of one of them that is still running is the answer, and nothing new is made. One
    that ended early within a day is continued at its last page. None: no such account.
    Call it inside the transaction that queues the work, or do the work yourself.
    """
    accounts = Account.objects.filter(
        organisation_id=organisation_id, external_user_id=external_user_id
    ).select_related("organisation")
    if sources:
        accounts = accounts.filter(source__in=sources)
    # Two requests at once are answered one after the other.
    locked = list(accounts.order_by("pk").select_for_update(of=("self",), no_key=True))
    if not locked:
        return None
    running = SyncSource.objects.filter(account__in=locked, state__in=ACTIVE).first()
    if running is not None:
        return Requested(run_id=running.run_id, queued=())
    run = SyncRun.objects.create(organisation_id=organisation_id, external_user_id=external_user_id)
    earlier = _resumable([account.pk for account in locked], now=now)
    rows = [
        SyncSource(
            run=run,
            account=account,
            since=last.since if last else now - registry.BY_SOURCE[account.ref().source].window,
            cursor=last.cursor if last else "",
        )
        for account in locked
        for last in [earlier.get(account.pk)]
    ]
    SyncSource.objects.bulk_create(rows)
    return Requested(run_id=run.pk, queued=tuple(row.pk for row in rows))


def _resumable(account_ids: Sequence[UUID], *, now: datetime) -> dict[UUID, SyncSource]:
    """The last sync of each account, where it ended early and not long ago."""
    last = (
        SyncSource.objects.filter(account__in=account_ids, finished_at__gt=now - RESUMABLE_FOR)
        .order_by("account_id", "-finished_at")
        .distinct("account_id")
    )
    return {sync.account_id: sync for sync in last if sync.state in ENDED_EARLY and sync.cursor}


def cancel(run_id: UUID, *, now: datetime) -> None:
    """Stop a sync. What a worker is just reading is not stored as progress any more."""
    SyncSource.objects.filter(run_id=run_id, state__in=ACTIVE).update(
        state=SyncSource.State.CANCELLED, finished_at=now, lease_expires_at=None
    )


def progress(*, organisation_id: UUID, run_id: UUID) -> SyncProgress | None:
    """How far a sync of this organisation is. Two queries."""
    run = SyncRun.objects.filter(pk=run_id, organisation_id=organisation_id).first()
    if run is None:
        return None
    rows = SyncSource.objects.filter(run=run).select_related("account").order_by("account__source")
    sources = tuple(_source(row) for row in rows)
    return SyncProgress(
        id=run.pk,
        external_user_id=run.external_user_id,
        state=overall([source.state for source in sources]),
        created_at=run.created_at,
        sources=sources,
    )


def overall(states: Sequence[SyncState]) -> SyncState:
    """The state of the whole from those of its parts. A whole without parts is done."""
    order: tuple[SyncState, ...] = ("running", "queued", "failed", "cancelled", "done")
    if "queued" in states and set(states) != {"queued"}:
        return "running"
    return next((state for state in order if state in states), "done")


def _source(row: SyncSource) -> SourceProgress:
    return SourceProgress(
        source=row.account.source,  # type: ignore[arg-type]  # choices are the registry's
        account_id=row.account_id,
        state=row.state,  # type: ignore[arg-type]  # choices are SyncState's
        received=row.received,
        processed=row.processed,
        skipped=row.skipped,
        failed=row.failed,
        reasons=row.reasons,
        started_at=row.started_at,
        finished_at=row.finished_at,
        error=row.error,
    )

"""What the task cluster runs of `knowledge`. Tasks carry ids; a second run changes nothing."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django_q.tasks import async_task

from integrations.contracts import Source
from integrations.database import clock
from integrations.models import Account
from integrations.ports.registry import SYNCED
from knowledge.ingest import embedding_models, indexing, occurrences
from knowledge.models import SyncSource
from knowledge.search import graph
from knowledge.sync import (
    callbacks,
    claims as sync_claims,
    dead_letters,
    late_files,
    runs as sync_runs,
    sync,
)

DUE_AT_ONCE = 100  # a sweep


def start_sync(
    *,
    organisation_id: UUID,
    external_user_id: str,
    sources: Sequence[Source] = (),
    only_changes: bool = False,
    window: timedelta | None = None,
) -> sync_runs.Requested | None:
    """Start a sync of one user's accounts. See `sync_runs.request_sync`."""
    with transaction.atomic():
        requested = sync_runs.request_sync(
            organisation_id=organisation_id,
            external_user_id=external_user_id,
            sources=sources,
            only_changes=only_changes,
            window=window,
            now=timezone.now(),
        )
        for sync_id in requested.queued if requested else ():
            async_task(run_sync, str(sync_id))
    return requested


def start_first_sync(account_id: UUID) -> None:
    """Read in an account that was never read, where a sync reads it. Again changes nothing."""
    row = Account.objects.select_related("organisation").filter(id=account_id).first()
    if (
        row is None
        or row.source not in SYNCED
        or SyncSource.objects.filter(account_id=account_id).exists()
    ):
        return
    start_sync(
        organisation_id=row.organisation_id,
        external_user_id=row.external_user_id,
        sources=[row.ref().source],
    )


def run_sync(sync_id: str) -> None:
    """Read one account for a share of a task's time; queued again while there is more."""
    seconds = settings.TASK_TIMEOUT_SECONDS / 5
    advanced = sync.advance(UUID(sync_id), clock=clock.now, seconds=seconds)
    if advanced == "more":
        async_task(run_sync, sync_id)
    elif advanced == "finished":
        callbacks.send_due(now=timezone.now())


def retry_dead_letter(failure_id: int) -> None:
    dead_letters.retry(failure_id, now=timezone.now())


def retry_dead_letters(failure_ids: Iterable[int]) -> int:
    """Queue these dead letters of syncs again; how many."""
    with transaction.atomic():
        queued = dead_letters.queue_again(failure_ids, now=timezone.now())
        for failure_id in queued:
            async_task(retry_dead_letter, failure_id)
    return len(queued)


def retry_due(*, now: datetime) -> int:
    """Queue the items for which no model answered and which are due again; how many."""
    with transaction.atomic():
        due = dead_letters.claim_due(now=now, limit=DUE_AT_ONCE)
        for failure_id in due:
            async_task(retry_dead_letter, failure_id)
    return len(due)


def read_late_files(item_id: str) -> None:
    late_files.read(UUID(item_id), now=timezone.now())


def ask_for_late_files(*, now: datetime) -> int:
    """Queue the items whose files are to be asked for again; how many."""
    with transaction.atomic():
        items = late_files.claim(now=now, limit=DUE_AT_ONCE)
        for item_id in items:
            async_task(read_late_files, str(item_id))
    return len(items)


def sweep(*, now: datetime) -> None:
    """Go on with what a dead worker left or what had to wait, begin what is due, and look ahead
    in calendars. Run it every minute."""
    requeue_abandoned_syncs(now=now)
    start_due_syncs(now=now)
    ask_for_late_files(now=now)
    retry_due(now=now)
    callbacks.send_due(now=now)
    sync_runs.forget_empty(now=now)
    occurrences.look_ahead(now=now)
    if embedding_models.claim(now=now):
        async_task(reembed)
    if indexing.is_behind():
        async_task(index_again)
    if graph.is_behind():
        async_task(move_into_graph)


def index_again() -> None:
    """Index what was stored before languages were recognised, for a share of a task's time; a
    later sweep goes on."""
    until = timezone.now() + timedelta(seconds=settings.TASK_TIMEOUT_SECONDS / 5)
    while indexing.index_again() and timezone.now() < until:
        pass


def mark_large_accounts() -> None:
    """Note the accounts that have become large. It counts their vectors: run it every hour."""
    graph.mark_large()


def move_into_graph() -> None:
    """Put vectors of large accounts into the graph, for a share of a task's time; a later sweep
    goes on. Only one process is at it at a time, so the others do other tasks."""
    until = timezone.now() + timedelta(seconds=settings.TASK_TIMEOUT_SECONDS / 5)
    while graph.move() and timezone.now() < until:
        pass


def reembed() -> None:
    """Fill the wanted embedding model for a share of a task's time; queued again while there
    is more. When the model is away a later sweep goes on."""
    until = timezone.now() + timedelta(seconds=settings.TASK_TIMEOUT_SECONDS / 5)
    while embedding_models.fill(now=clock.now()) == "more":
        if timezone.now() >= until:
            async_task(reembed)
            return


def requeue_abandoned_syncs(*, now: datetime) -> int:
    """Queue again what nobody works on any more; how many."""
    with transaction.atomic():
        abandoned = sync_claims.requeue_abandoned(now=now)
        for sync_id in abandoned:
            async_task(run_sync, str(sync_id))
    return len(abandoned)


def start_due_syncs(*, now: datetime) -> int:
    """Start a sync of the changes of each account that is due; how many."""
    if not settings.SYNC_EVERY_MINUTES:
        return 0
    every = timedelta(minutes=settings.SYNC_EVERY_MINUTES)
    found = sync_runs.list_due(every=every, now=now, limit=DUE_AT_ONCE)
    for organisation_id, user_id, source in found:
        start_sync(
            organisation_id=organisation_id,
            external_user_id=user_id,
            sources=[source],
            only_changes=True,
        )
    return len(found)

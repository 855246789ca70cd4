"""What the task cluster runs of `knowledge`. Tasks carry ids; a second run changes nothing."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django_q.tasks import async_task

from integrations.contracts import Source
from knowledge import sync, sync_runs


def start_sync(
    *, organisation_id: UUID, external_user_id: str, sources: Sequence[Source] = ()
) -> sync_runs.Requested | None:
    """Start a sync of one user's accounts. See `sync_runs.request_sync`."""
    with transaction.atomic():
        requested = sync_runs.request_sync(
            organisation_id=organisation_id,
            external_user_id=external_user_id,
            sources=sources,
            now=timezone.now(),
        )
        for sync_id in requested.queued if requested else ():
            async_task(run_sync, str(sync_id))
    return requested


def run_sync(sync_id: str) -> None:
    """Read one account for about a minute; queued again while there is more."""
    if sync.advance(UUID(sync_id), clock=timezone.now) == "more":
        async_task(run_sync, sync_id)


def requeue_abandoned_syncs(*, now: datetime) -> int:
    """Queue again what a dead worker left; how many. Run it every minute."""
    abandoned = sync.abandoned(now=now)
    for sync_id in abandoned:
        async_task(run_sync, str(sync_id))
    return len(abandoned)

"""The frontend gets a signed message when a sync it asked for has ended, again until it accepts."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F

from integrations.exceptions import ProviderError
from integrations.network import callbacks
from knowledge.contracts import SyncProgress
from knowledge.models import SyncRun
from knowledge.sync import runs as sync_runs

log = logging.getLogger(__name__)
MAX_ATTEMPTS = 19  # about a day
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(hours=2)
LEASE = timedelta(minutes=2)
AT_ONCE = 20


def send_due(*, now: datetime) -> int:
    """Send what is due. How many were taken by the other side."""
    waiting = SyncRun.objects.filter(callback=SyncRun.Callback.WAITING, callback_due_at__lte=now)
    ids = list(waiting.order_by("callback_due_at").values_list("pk", flat=True)[:AT_ONCE])
    return sum(_send(run_id, now=now) for run_id in ids)


def _send(run_id: Any, *, now: datetime) -> bool:
    claimed = SyncRun.objects.filter(
        pk=run_id, callback=SyncRun.Callback.WAITING, callback_due_at__lte=now
    ).update(callback_due_at=now + LEASE, callback_attempts=F("callback_attempts") + 1)
    if not claimed:
        return False
    run = SyncRun.objects.select_related("organisation").get(pk=run_id)
    progress = sync_runs.load_progress(organisation_id=run.organisation_id, run_id=run.pk, now=now)
    if progress is None:
        return False
    try:
        callbacks.send(
            slug=run.organisation.slug,
            id=f"sync_{run.pk}",
            kind="sync.finished",
            data=render_message(progress),
            now=now,
        )
    except ProviderError as error:
        # A refusal may be a deployment under way: tried again like silence.
        log.warning("sync.callback_failed", extra={"sync": str(run.pk), "code": error.code})
        return _put_off(run, now=now)
    SyncRun.objects.filter(pk=run.pk).update(callback=SyncRun.Callback.SENT, callback_due_at=None)
    return True


def _put_off(run: SyncRun, *, now: datetime) -> bool:
    if run.callback_attempts >= MAX_ATTEMPTS:
        SyncRun.objects.filter(pk=run.pk).update(
            callback=SyncRun.Callback.FAILED, callback_due_at=None
        )
        return False
    wait = min(FIRST_WAIT * 2 ** (run.callback_attempts - 1), LONGEST_WAIT)
    SyncRun.objects.filter(pk=run.pk).update(callback_due_at=now + wait)
    return False


def render_message(progress: SyncProgress) -> dict[str, Any]:
    """What the frontend gets: only counts, nothing of any item."""
    return {
        "id": str(progress.id),
        "user_id": progress.external_user_id,
        "state": progress.state,
        "sources": [
            {
                "source": source.source,
                "state": source.state,
                "received": source.received,
                "processed": source.processed,
                "skipped": source.skipped,
                "failed": source.failed,
            }
            for source in progress.sources
        ],
    }

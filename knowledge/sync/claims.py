"""Who works on a sync: a claim by a conditional update, held under a lease."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from integrations.ports import registry
from knowledge.models import SyncSource
from knowledge.sync import runs as sync_runs


class Lost(Exception):
    """Somebody else has claimed or cancelled this sync: nothing more may be written."""


def requeue_abandoned(*, now: datetime) -> Sequence[UUID]:
    """Syncs that nobody works on (their lease, or their wait, ran out), as queued ones. For a
    transaction in which they are queued again."""
    rows = SyncSource.objects.select_for_update(skip_locked=True).filter(
        state__in=sync_runs.ACTIVE,
        lease_expires_at__lt=now,
        account__source__in=registry.SYNCED,  # an import is its own command
    )
    ids = list(rows.values_list("id", flat=True))
    patience = timedelta(seconds=settings.TASK_TIMEOUT_SECONDS)
    SyncSource.objects.filter(pk__in=ids).update(
        state=SyncSource.State.QUEUED, lease_expires_at=now + patience
    )
    return ids


def claim(sync_id: UUID, *, now: datetime) -> SyncSource | None:
    free = Q(state=SyncSource.State.QUEUED) | Q(
        state=SyncSource.State.RUNNING, lease_expires_at__lte=now
    )
    claimed = SyncSource.objects.filter(free, pk=sync_id).update(
        state=SyncSource.State.RUNNING,
        attempt=F("attempt") + 1,
        stalls=F("stalls") + 1,
        lease_expires_at=now + lease(),
        started_at=Coalesce("started_at", now),
    )
    if not claimed:
        return None
    return SyncSource.objects.select_related("account__organisation").get(pk=sync_id)


def lease() -> timedelta:
    return timedelta(seconds=settings.SYNC_LEASE_SECONDS)


def write(sync: SyncSource, **fields: Any) -> None:
    """Write while the claim holds. Raises Lost when it does not."""
    held = SyncSource.objects.filter(
        pk=sync.pk, state=SyncSource.State.RUNNING, attempt=sync.attempt
    )
    if not held.update(**fields):
        raise Lost
    for name, value in fields.items():
        setattr(sync, name, value)


_SENTENCES = {
    "not_permitted": "The data service refused the credential. Check DATA_SERVICE_KEYS.",
    "sign_in_needed": "Its user has to sign in again; it goes on by itself afterwards.",
    "unavailable": "The data service did not answer.",
    "circuit_open": "The data service failed to answer several times, so nothing is sent to it "
    "for a while.",
    "too_slow": "The data service answered too slowly.",
    "rate_limited": "The data service asked Remit to slow down.",
    "malformed_answer": "The data service sent something that its contract does not allow.",
    "model": "The model did not answer.",
    "stalled": "It was started several times and never finished a page. See the log.",
    "restarted": "Its place in the list kept expiring. Start the sync again later.",
}
_OF_PROVIDER = _SENTENCES.keys() - {"model", "stalled", "restarted"}


def render_error(code: str, *, imported: bool) -> str:
    """What the code of an error means, to who looks at the sync, or `imported` it."""
    if imported and code in _OF_PROVIDER:
        return f"The mail server or the file could not be read on ({code}). Import again later."
    return _SENTENCES.get(code, f"The data service did not do what was asked ({code}).")

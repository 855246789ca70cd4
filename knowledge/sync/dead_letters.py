"""Dead letters of syncs, taken up again by an operator's word."""

import logging
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from integrations.exceptions import NotFound, ProviderError
from integrations.llm.completions import ModelError
from integrations.reads import reader
from knowledge.ingest.ingest import ingest
from knowledge.models import SyncFailure, SyncSource

log = logging.getLogger(__name__)
State = SyncFailure.State


def queue_again(failure_ids: Iterable[int]) -> list[int]:
    """Those of these that are dead, as queued. For a transaction that queues their work."""
    dead = SyncFailure.objects.select_for_update().filter(
        pk__in=list(failure_ids), state=State.DEAD
    )
    ids = list(dead.values_list("pk", flat=True))
    SyncFailure.objects.filter(pk__in=ids).update(state=State.QUEUED)
    return ids


def retry(failure_id: int, *, now: datetime) -> None:
    """Read the item again and ingest it. What came of it replaces the dead letter in the counts
    of its sync; one that fails again is dead again, with the new reason."""
    row = (
        SyncFailure.objects.select_related("sync__account__organisation")
        .filter(pk=failure_id, state=State.QUEUED)
        .first()
    )
    if row is None:
        return
    state, reason = _take(row, now=now)
    with transaction.atomic():
        mine = SyncFailure.objects.filter(pk=row.pk, state=State.QUEUED)
        if mine.update(state=state, reason=reason[:64] or row.reason, retried_at=now):
            _count(row, state, reason)


def _take(row: SyncFailure, *, now: datetime) -> tuple[str, str]:
    account = row.sync.account.ref()
    try:
        item = reader(account).item(row.source_id)
        outcome = ingest(account=account, source_id=item.id, item=item, now=now)
    except NotFound:
        return State.SKIPPED, "gone"
    except ProviderError as error:
        return State.DEAD, error.code
    except ModelError as error:
        return State.DEAD, f"model_{error.code}"
    except Exception:  # one broken item must not stop the others
        log.exception("sync.item_failed", extra={"account": str(account.id)})
        return State.DEAD, "unexpected_error"
    if outcome.state in ("unchanged", "stale"):
        return State.SKIPPED, outcome.state
    return State.PROCESSED, ""


def _count(row: SyncFailure, state: str, reason: str) -> None:
    sync = SyncSource.objects.select_for_update().get(pk=row.sync_id)
    reasons = dict(sync.reasons)
    if row.reason in reasons:
        reasons[row.reason] -= 1
        reasons = {name: count for name, count in reasons.items() if count > 0}
    if reason:
        reasons[reason] = reasons.get(reason, 0) + 1
    if state != State.DEAD:
        sync.failed -= 1
        sync.processed += state == State.PROCESSED
        sync.skipped += state == State.SKIPPED
    sync.reasons = reasons
    sync.save(update_fields=["failed", "processed", "skipped", "reasons"])

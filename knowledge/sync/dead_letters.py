"""Dead letters of syncs, taken up again by an operator's word, or by themselves where the model did
not answer."""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, transaction

from integrations.accounts.reads import reader
from integrations.child import Ended, Unreadable
from integrations.exceptions import NotFound, ProviderError
from integrations.llm.completions import ModelError
from integrations.network import retries
from knowledge.ingest.ingest import ingest
from knowledge.models import SyncFailure, SyncSource

log = logging.getLogger(__name__)
State = SyncFailure.State
CLAIMED = timedelta(minutes=30)  # longer than the work; a dead worker's item is due again


def queue_again(failure_ids: Iterable[int], *, now: datetime) -> list[int]:
    """Those of these that are dead, as queued. For a transaction that queues their work."""
    dead = SyncFailure.objects.select_for_update().filter(
        pk__in=list(failure_ids), state=State.DEAD
    )
    ids = list(dead.values_list("pk", flat=True))
    SyncFailure.objects.filter(pk__in=ids).update(state=State.QUEUED, due_at=now + CLAIMED)
    return ids


def claim_due(*, now: datetime, limit: int) -> list[int]:
    """Those that wait for a model and are to be tried again by now. For a transaction that queues
    their work; no other worker gets the same ones for a while."""
    due = SyncFailure.objects.filter(state=State.QUEUED, due_at__lte=now).order_by("due_at")
    ids = list(due.select_for_update(skip_locked=True).values_list("pk", flat=True)[:limit])
    SyncFailure.objects.filter(pk__in=ids).update(due_at=now + CLAIMED)
    return ids


def retry(failure_id: int, *, now: datetime) -> None:
    """Read the item again and ingest it. What came of it replaces the dead letter in the counts
    of its sync; one that fails again is dead again, with the new reason. Where nobody answered it
    is tried again, for a day since it first failed."""
    row = (
        SyncFailure.objects.select_related("sync__account__organisation")
        .filter(pk=failure_id, state=State.QUEUED)
        .first()
    )
    if row is None:
        return
    state, reason, asked = _take(row, now=now)
    waited = now - row.failed_at
    if state == State.QUEUED and waited > retries.PATIENCE:
        state = State.DEAD
    due_at = now + retries.pause(waited, asked=asked) if state == State.QUEUED else None
    with transaction.atomic():
        mine = SyncFailure.objects.filter(pk=row.pk, state=State.QUEUED)
        reason = reason[:64]
        if mine.update(state=state, reason=reason or row.reason, retried_at=now, due_at=due_at):
            _count(row, state, reason)


def _take(row: SyncFailure, *, now: datetime) -> tuple[str, str, float | None]:
    """What became of it, why, and for how long it asked to be left alone."""
    account = row.sync.account.ref()
    try:
        item = reader(account).item(row.source_id)
        outcome = ingest(account=account, source_id=item.id, item=item, now=now)
    except NotFound:
        return State.SKIPPED, "gone", None
    except ProviderError as error:
        return (State.QUEUED if error.retryable else State.DEAD), error.code, error.retry_after
    except Unreadable as error:
        return State.DEAD, error.reason, None
    except Ended:
        return State.QUEUED, "reader_ended", None
    except ModelError as error:
        return (State.QUEUED if error.may_pass else State.DEAD), f"model_{error.code}", None
    except (OperationalError, InterfaceError):
        raise  # the database is away, which says nothing of the item: it is due again
    except Exception:  # one broken item must not stop the others
        log.exception("sync.item_failed", extra={"account": str(account.id)})
        return State.DEAD, "unexpected_error", None
    if outcome.state in ("unchanged", "stale"):
        return State.SKIPPED, outcome.state, None
    return State.PROCESSED, "", None


def _count(row: SyncFailure, state: str, reason: str) -> None:
    sync = SyncSource.objects.select_for_update().get(pk=row.sync_id)
    reasons = dict(sync.reasons)
    if row.reason in reasons:
        reasons[row.reason] -= 1
        reasons = {name: count for name, count in reasons.items() if count > 0}
    if reason:
        reasons[reason] = reasons.get(reason, 0) + 1
    if state not in (State.DEAD, State.QUEUED):
        sync.failed -= 1
        sync.processed += state == State.PROCESSED
        sync.skipped += state == State.SKIPPED
    sync.reasons = reasons
    sync.save(update_fields=["failed", "processed", "skipped", "reasons"])

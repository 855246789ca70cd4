"""Reading whole accounts, page by page. Every page is stored before the next is asked for.

A sync is claimed by a conditional update with a lease, and goes on at its cursor whoever
claims it next. `knowledge.tasks` runs it in the cluster.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from django.db import connections, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from integrations import reads, registry
from integrations.contracts import AccountRef, AnyItem, Page
from integrations.exceptions import CursorExpired, ProviderError
from integrations.llm import ModelError
from knowledge.ingest import ingest
from knowledge.models import SyncFailure, SyncSource

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=5)
PAGE = 40
SIDE_BY_SIDE = 8
ITEM_TRIES = 2
MAX_STALLS = 5
MAX_RESTARTS = 3
SLICE_SECONDS = 60.0  # then another task may have its turn
SKIPPED = ("unchanged", "stale")

Clock = Callable[[], datetime]
Advanced = Literal["finished", "more", "not_mine"]

_SENTENCES = {
    "not_permitted": "The data service refused the credential. Check DATA_SERVICE_KEYS.",
    "unavailable": "The data service did not answer. Start the sync again later.",
    "rate_limited": "The data service asked to be left alone. Start the sync again later.",
    "malformed_answer": "The data service sent something that its contract does not allow.",
    "model": "The model did not answer. Start the sync again later.",
    "stalled": "It was begun again and again and never finished a page. See the log.",
    "restarted": "Its place in the list ran out again and again. Start the sync again later.",
}


@dataclass(frozen=True, kw_only=True)
class _Taken:
    """What became of one item of a page. `passing`: the same try may succeed later."""

    source_id: str
    state: str
    reason: str = ""
    passing: bool = False


class _Lost(Exception):
    """Somebody else has claimed or cancelled this sync: nothing more may be written."""


def advance(sync_id: UUID, *, clock: Clock, seconds: float = SLICE_SECONDS) -> Advanced:
    """Claim a sync and read pages for about `seconds`.

    finished: it reached an end, whichever. more: call again. not_mine: it has ended, or
    another worker has it. Raises only what is a fault of this code; the lease then runs out
    and the sync goes on at its last page.
    """
    sync = _claim(sync_id, now=clock())
    if sync is None:
        return "not_mine"
    try:
        return _read(sync, clock=clock, until=time.monotonic() + seconds)
    except _Lost:
        return "not_mine"


def abandoned(*, now: datetime) -> Sequence[UUID]:
    """Syncs whose worker is gone: their lease ran out."""
    rows = SyncSource.objects.filter(state=SyncSource.State.RUNNING, lease_expires_at__lt=now)
    return list(rows.values_list("id", flat=True))


def _claim(sync_id: UUID, *, now: datetime) -> SyncSource | None:
    free = Q(state=SyncSource.State.QUEUED) | Q(
        state=SyncSource.State.RUNNING, lease_expires_at__lte=now
    )
    claimed = SyncSource.objects.filter(free, pk=sync_id).update(
        state=SyncSource.State.RUNNING,
        attempt=F("attempt") + 1,
        stalls=F("stalls") + 1,
        lease_expires_at=now + LEASE,
        started_at=Coalesce("started_at", now),
    )
    if not claimed:
        return None
    return SyncSource.objects.select_related("account__organisation").get(pk=sync_id)


def _read(sync: SyncSource, *, clock: Clock, until: float) -> Advanced:
    account = sync.account.ref()
    if sync.stalls > MAX_STALLS:
        return _end(sync, SyncSource.State.FAILED, now=clock(), error="stalled")
    while True:
        try:
            page = _page(sync, account)
        except CursorExpired:
            if sync.restarts >= MAX_RESTARTS:
                return _end(sync, SyncSource.State.FAILED, now=clock(), error="restarted")
            _write(sync, cursor="", restarts=sync.restarts + 1)
            continue
        except ProviderError as error:
            log.warning("sync.stopped", extra={"sync": str(sync.pk), "code": error.code})
            return _end(sync, SyncSource.State.FAILED, now=clock(), error=error.code)
        taken = _take(account, page.items, clock=clock)
        if len(taken) > 1 and all(item.passing for item in taken):
            return _end(sync, SyncSource.State.FAILED, now=clock(), error="model")
        _record(sync, taken, cursor=page.next_cursor or "", now=clock())
        if page.next_cursor is None:
            return _end(sync, SyncSource.State.DONE, now=clock())
        if time.monotonic() > until:
            _write(sync, lease_expires_at=clock())  # free for whoever comes next
            return "more"


def _page(sync: SyncSource, account: AccountRef) -> Page[AnyItem]:
    connector = registry.BY_SOURCE[account.source]
    return connector.list_items(reads.reader(account), sync.since, sync.cursor or None, PAGE)


def _take(account: AccountRef, items: Sequence[AnyItem], *, clock: Clock) -> list[_Taken]:
    """Ingest a page: most of it is waiting for a model, so a few items at a time."""
    with ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="sync") as pool:
        return list(pool.map(lambda item: _take_one(account, item, clock=clock), items))


def _take_one(account: AccountRef, item: AnyItem, *, clock: Clock) -> _Taken:
    reason, passing = "", False
    for _try in range(ITEM_TRIES):
        try:
            outcome = ingest(account=account, source_id=item.id, item=item, now=clock())
            return _Taken(source_id=item.id, state=outcome.state)
        except ModelError as error:
            reason, passing = f"model_{error.code}", error.retryable
        except Exception:  # one broken item must not stop the others
            log.exception("sync.item_failed", extra={"account": str(account.id)})
            reason, passing = "unexpected_error", False
        finally:
            connections.close_all()
    return _Taken(source_id=item.id, state="failed", reason=reason, passing=passing)


def _record(sync: SyncSource, taken: Sequence[_Taken], *, cursor: str, now: datetime) -> None:
    """Counts, failures and the next place in one transaction: each item is counted once."""
    failed = [item for item in taken if item.state == "failed"]
    skipped = [item for item in taken if item.state in SKIPPED]
    reasons = Counter(sync.reasons)
    reasons.update(item.reason or item.state for item in (*failed, *skipped))
    with transaction.atomic():
        _write(
            sync,
            cursor=cursor,
            received=sync.received + len(taken),
            processed=sync.processed + len(taken) - len(failed) - len(skipped),
            skipped=sync.skipped + len(skipped),
            failed=sync.failed + len(failed),
            reasons=dict(reasons),
            stalls=0,
            lease_expires_at=now + LEASE,
        )
        SyncFailure.objects.bulk_create(
            [
                SyncFailure(
                    sync=sync, source_id=item.source_id, reason=item.reason[:64], failed_at=now
                )
                for item in failed
            ],
            ignore_conflicts=True,
        )


def _end(sync: SyncSource, state: SyncSource.State, *, now: datetime, error: str = "") -> Advanced:
    sentence = _SENTENCES.get(error, f"The data service did not do as asked ({error}).")
    _write(
        sync,
        state=state,
        finished_at=now,
        lease_expires_at=None,
        error=sentence if error else "",
    )
    log.info("sync.ended", extra={"sync": str(sync.pk), "state": state, "code": error})
    return "finished"


def _write(sync: SyncSource, **fields: object) -> None:
    """Write while the claim holds. Raises _Lost when it does not."""
    held = SyncSource.objects.filter(
        pk=sync.pk, state=SyncSource.State.RUNNING, attempt=sync.attempt
    )
    if not held.update(**fields):
        raise _Lost
    for name, value in fields.items():
        setattr(sync, name, value)

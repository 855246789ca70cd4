"""Reading whole accounts, page by page. Each page is recorded before the next one is.

A sync is claimed by a conditional update with a lease, and goes on at its cursor under the
next claim. While the items of a page wait for models, the next page is asked for, looked at
as a whole (`knowledge.ingest.page`), and its items begin: what runs side by side is bounded by
SYNC_SIDE_BY_SIDE, not by pages; a quarter more threads read and write while others wait.
`knowledge.tasks` runs it in the cluster.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.db import transaction

from integrations.accounts import reads
from integrations.contracts import AccountRef, AnyItem, Page
from integrations.exceptions import CursorExpired, ProviderError
from integrations.network import retries
from integrations.ports import registry
from integrations.ports.account import Files, Import
from knowledge.ingest.page import PageLookup, look_up_page
from knowledge.models import SyncFailure, SyncSource
from knowledge.sync import claims as sync_claims, deletions, runs as sync_runs
from knowledge.sync.claims import Lost, lease, render_error, write
from knowledge.sync.one_item import Clock, ItemResult, take_item
from knowledge.sync.threads import ThreadPool

log = logging.getLogger(__name__)

PAGE = 100
HEARTBEAT_SECONDS = 2.0
MAX_STALLS = 5
MAX_RESTARTS = 3
SLICE_SECONDS = 60.0  # then the next task gets the slot

DONE, FAILED = SyncSource.State.DONE, SyncSource.State.FAILED
SKIPPED = ("unchanged", "stale", "left_out")

# A list of one account: its page at a cursor.
Pages = Callable[[str | None], Page[AnyItem]]
Advanced = Literal["finished", "more", "waiting", "not_mine"]


@dataclass(frozen=True, kw_only=True)
class _Fetched:
    """A page that was asked for."""

    page: Page[AnyItem]
    lookup: PageLookup


@dataclass(frozen=True, kw_only=True)
class _Started:
    """A page whose items are being taken. What is `settled` needs no work."""

    page: Page[AnyItem]
    settled: list[ItemResult]
    futures: list[Future[ItemResult]]


class _ModelAway(Exception):
    """No item of a whole page was answered by the model."""


def advance(
    sync_id: UUID,
    *,
    clock: Clock,
    seconds: float = SLICE_SECONDS,
    imported: Import | None = None,
) -> Advanced:
    """Claim a sync and read pages for about `seconds`: those of the data service, unless it is
    an import that brings its own.

    finished: it reached an end, whichever. more: call again. waiting: the data service or the
    model is away; call again when the lease has run out. not_mine: it has ended, or another
    worker has it. Raises only what is a fault of this code or of the database; the lease then
    runs out and the sync goes on at its last page.
    """
    sync = sync_claims.claim(sync_id, now=clock())
    if sync is None:
        return "not_mine"
    if sync.stalls > MAX_STALLS:
        return _end(sync, FAILED, now=clock(), error="stalled")
    try:
        # Pages have a thread of their own, or one would wait behind all items of those before.
        with (
            ThreadPool(1, name="sync-page") as reader,
            ThreadPool(settings.SYNC_SIDE_BY_SIDE * 5 // 4, name="sync") as workers,
        ):
            account = sync.account.ref()
            reading = _Reading(
                sync=sync,
                account=account,
                pages=imported.page if imported else _provided(sync, account),
                files=imported.attached if imported else None,
                reader=reader,
                workers=workers,
                clock=clock,
            )
            return reading.read(until=time.monotonic() + seconds)
    except Lost:
        return "not_mine"


def _provided(sync: SyncSource, account: AccountRef) -> Pages:
    def page(cursor: str | None) -> Page[AnyItem]:
        reader = reads.syncing_reader(account)
        listing = reader.items if sync.only_changes else reader.items_in_window
        return listing(since=sync.since, cursor=cursor, limit=PAGE)

    return page


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """One worker's share of one sync."""

    sync: SyncSource
    account: AccountRef
    pages: Pages
    files: Files | None
    reader: ThreadPool
    workers: ThreadPool
    clock: Clock

    def read(self, *, until: float) -> Advanced:
        while True:
            try:
                return self._pages(until=until)
            except CursorExpired:
                if self.sync.restarts >= MAX_RESTARTS:
                    return _end(self.sync, FAILED, now=self.clock(), error="restarted")
                write(self.sync, cursor="", restarts=self.sync.restarts + 1, remaining=None)
            except _ModelAway:
                return self._postpone("model", None)
            except ProviderError as error:
                log.warning("sync.stopped", extra={"sync": str(self.sync.pk), "code": error.code})
                if error.retryable:
                    return self._postpone(error.code, error.retry_after)
                return _end(self.sync, FAILED, now=self.clock(), error=error.code)

    def _pages(self, *, until: float) -> Advanced:
        started = self._start(self._await_page(self._ask_page(self.sync.cursor or None)))
        while True:
            cursor = started.page.next_cursor
            late = time.monotonic() > until
            if cursor is None or late:
                self._record(started)
                break
            asked = self._ask_page(cursor)
            try:
                following = self._start(self._await_page(asked))
            finally:  # what goes wrong with the next page is no reason to lose this one
                self._record(started)
            started = following
        if cursor is None:
            self._forget_removed()
            return _end(self.sync, DONE, now=self.clock())
        write(self.sync, lease_expires_at=self.clock())  # free for the next claim
        return "more"

    def _forget_removed(self) -> None:
        """Take out what was deleted since the account was last read to its end."""
        read_at = sync_runs.find_read_times([self.sync.account_id]).get(self.sync.account_id)
        if read_at is None or _imported(self.sync):
            return
        try:
            for gone in deletions.forget_removed(self.account, since=read_at - sync_runs.OVERLAP):
                write(
                    self.sync,
                    received=self.sync.received + gone,
                    processed=self.sync.processed + gone,
                    lease_expires_at=self.clock() + lease(),
                )
        except ProviderError as error:
            if error.retryable:
                raise
            # All that is there was read. What is gone is learned from webhooks.
            extra = {"sync": str(self.sync.pk), "code": error.code}
            log.warning("sync.history_unreadable", extra=extra)

    def _ask_page(self, cursor: str | None) -> Future[_Fetched]:
        def fetch() -> _Fetched:
            page = self.pages(cursor)
            return _Fetched(page=page, lookup=look_up_page(account=self.account, items=page.items))

        return self.reader.submit(fetch)

    def _await_page(self, asked: Future[_Fetched]) -> _Fetched:
        self._wait([asked])
        return asked.result()

    def _start(self, fetched: _Fetched) -> _Started:
        """Set to work on what is not stored already."""
        page, known = fetched.page, fetched.lookup.unchanged
        one = partial(
            take_item, self.account, clock=self.clock, lookup=fetched.lookup, files=self.files
        )
        futures = [
            self.workers.submit(partial(one, item)) for item in page.items if item.id not in known
        ]
        settled = [
            ItemResult(source_id=item.id, state="unchanged")
            for item in page.items
            if item.id in known
        ]
        settled += [
            ItemResult(source_id=each.source_id, state="failed", reason=each.reason)
            for each in page.rejected
        ]
        return _Started(page=page, settled=settled, futures=futures)

    def _wait(self, futures: "Sequence[Future[Any]]") -> None:
        """Keep the claim alive meanwhile, and notice when it is gone."""
        while wait(futures, timeout=HEARTBEAT_SECONDS).not_done:
            write(self.sync, lease_expires_at=self.clock() + lease())

    def _record(self, started: _Started) -> None:
        """Counts, failures and the next place in one transaction: each item is counted once."""
        self._wait(started.futures)
        worked = [future.result() for future in started.futures]
        if len(worked) > 1 and all(taken.passing for taken in worked):
            raise _ModelAway
        taken = [*started.settled, *worked]
        failed = [item for item in taken if item.state == "failed"]
        skipped = [item for item in taken if item.state in SKIPPED]
        reasons = Counter(self.sync.reasons)
        reasons.update(item.reason or item.state for item in (*failed, *skipped))
        now = self.clock()
        with transaction.atomic():
            write(
                self.sync,
                cursor=started.page.next_cursor or started.page.end,
                received=self.sync.received + len(taken),
                processed=self.sync.processed + len(taken) - len(failed) - len(skipped),
                skipped=self.sync.skipped + len(skipped),
                failed=self.sync.failed + len(failed),
                reasons=dict(reasons),
                remaining=started.page.remaining,
                stalls=0,
                waiting_since=None,
                error="",
                lease_expires_at=now + lease(),
            )
            SyncFailure.objects.bulk_create(
                [
                    SyncFailure(
                        sync=self.sync,
                        source_id=item.source_id,
                        reason=item.reason[:64],
                        failed_at=now,
                        state=SyncFailure.State.QUEUED if item.passing else SyncFailure.State.DEAD,
                        due_at=now + retries.FIRST_PAUSE if item.passing else None,
                    )
                    for item in failed
                ]
            )

    def _postpone(self, code: str, retry_after: float | None) -> Advanced:
        """Wait longer each time, and not for ever."""
        now = self.clock()
        since = self.sync.waiting_since or now
        if retries.is_given_up(now - since, code):
            return _end(self.sync, FAILED, now=now, error=code)
        write(
            self.sync,
            waiting_since=since,
            stalls=0,
            error=f"{render_error(code, imported=_imported(self.sync))} Remit will try again.",
            lease_expires_at=now + retries.pause(now - since, asked=retry_after),
        )
        return "waiting"


def _imported(sync: SyncSource) -> bool:
    return sync.account.source not in registry.SYNCED


def _end(sync: SyncSource, state: SyncSource.State, *, now: datetime, error: str = "") -> Advanced:
    with transaction.atomic():
        write(
            sync,
            state=state,
            finished_at=now,
            lease_expires_at=None,
            error=render_error(error, imported=_imported(sync)) if error else "",
        )
        sync_runs.settle(sync.run_id, now=now)
    log.info("sync.ended", extra={"sync": str(sync.pk), "state": state, "code": error})
    return "finished"

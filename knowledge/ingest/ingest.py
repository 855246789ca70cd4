"""One version of one item in, or out. The only code that writes items."""

import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models.expressions import RawSQL

from integrations.child import Unreadable
from integrations.contracts import AccountRef, AnyItem
from integrations.contracts.scope import covers
from integrations.llm import metering
from integrations.llm.deadline import Deadline
from integrations.ports.account import Files
from knowledge.contracts import IngestOutcome
from knowledge.files import fetching
from knowledge.files.contracts import FileText
from knowledge.ingest import (
    enrichment,
    indexing,
    item_files,
    metadata,
    new_items,
    occurrences,
    passages,
    write_counts,
)
from knowledge.ingest.enrichment import Reading
from knowledge.ingest.mentions import replace_mentions
from knowledge.ingest.new_items import Beside
from knowledge.ingest.page import NO_LOOKUP, PageLookup
from knowledge.ingest.passages import Passage, Vectors
from knowledge.ingest.reading import read_item
from knowledge.ingest.stored import Start, find_stored, read_start
from knowledge.models import Chunk, Item
from knowledge.text.parsing import Parsed
from knowledge.versions import Version, is_stale

# Models are asked about so many items at once; reading and writing needs no slot.
_asking = threading.BoundedSemaphore(settings.SYNC_SIDE_BY_SIDE)


@dataclass(frozen=True, kw_only=True)
class _Content:
    """All that is written of one version, together."""

    parsed: Parsed
    files: Sequence[FileText]
    reading: Reading
    passages: Sequence[Passage]
    vectors: Vectors


@dataclass(frozen=True, kw_only=True)
class _Target:
    """Which row, in which version, at which time."""

    account: AccountRef
    source_id: str
    version: Version
    now: datetime

    def rows(self) -> Any:
        return Item.objects.defer("search").filter(
            account_id=self.account.id, source=self.account.source, source_id=self.source_id
        )


def ingest(
    *,
    account: AccountRef,
    source_id: str,
    item: AnyItem,
    now: datetime,
    lookup: PageLookup = NO_LOOKUP,
    files: Files | None = None,
    deadline: Deadline | None = None,
    start: Start | None = None,
    beside: Callable[[], Beside | None] | None = None,
) -> IngestOutcome:
    """Store this version of an item with summary, entities and vectors, visible at once.

    Content that is stored already costs no model call; a version older than the stored one,
    or than a deletion, changes nothing. Of two workers that race, the newer version stays.
    An attachment that cannot be read is listed with the reason, and the item is stored.
    What a `lookup` of its page found is not found out again; it may be out of date without harm.
    Attachments are asked for at the account's provider, or at `files` where an import brings them.
    `start` is what work on it begins with, where it was read when that began.
    `beside` is what is stored with an item that is new, by the same statement, and what it reads is
    of the same transaction; it is not called for others, nor for events.
    No transaction is open while a model or the provider is asked. Models have until the deadline,
    or half of a task's time. Raises integrations.llm.completions.ModelError, and
    integrations.child.Unreadable or Ended; then nothing was stored.
    """
    if not covers(account, item):
        leave_out(account=account, source_id=source_id, at=item.updated_at or now)
        return IngestOutcome(state="left_out", item_id=None)
    absent = lookup.absent.get(source_id)
    if reason := lookup.unreadable.get(source_id):
        raise Unreadable(reason)
    parsed = absent.parsed if absent else read_item(item, source_id=source_id)
    target = _Target(
        account=account,
        source_id=source_id,
        version=Version(number=item.version, updated_at=item.updated_at),
        now=now,
    )
    # Items of a page need no more: what models are asked for them was looked up for all.
    if start is None and lookup is NO_LOOKUP:
        start = read_start(account, source_id)
    stored = _find_stored(account, source_id, start, is_absent=absent is not None)
    if stored and is_stale(
        target.version, stored=stored.version, last_deleted_at=stored.last_deleted_at
    ):
        return IngestOutcome(state="stale", item_id=stored.id, summary=stored.summary)
    before = _labels_before(stored) if stored else None
    texts = _texts(target, parsed, stored, files)
    if texts is None:
        if outcome := _refresh(target, parsed, stored) or _touch(target, parsed):
            return replace(outcome, labels_before=before)
        texts = fetching.fetch(account, parsed.files, known={}, files=files)
    with metering.gathered() as calls:
        content = _content(
            account,
            parsed.with_files(texts),
            texts,
            stored=stored,
            start=start,
            ready=lookup.vectors,
            wanted=absent.passages if absent and not texts else None,
            deadline=deadline or Deadline.after(settings.TASK_TIMEOUT_SECONDS / 2),
        )
        is_new = stored is None and parsed.content_type != "event"
        outcome = _store(target, content, calls, beside) if is_new else None
        outcome = outcome or _write(target, content)
        return replace(outcome, labels_before=before)


def _find_stored(
    account: AccountRef, source_id: str, start: Start | None, *, is_absent: bool
) -> Item | None:
    if start:
        return start.stored.found
    return None if is_absent else find_stored(account, source_id)


def _labels_before(stored: Item) -> tuple[str, ...]:
    """As they were when somebody looked at them last."""
    present = stored.metadata.get("labels") or ()
    return tuple(present if stored.labels_before is None else stored.labels_before)


def _texts(
    target: _Target, parsed: Parsed, stored: Item | None, files: Files | None
) -> Sequence[FileText] | None:
    """What is in the item's files; None when the item is stored with all of it."""
    known = item_files.load_known(stored) if stored and parsed.files else {}
    if stored and stored.content_hash == parsed.content_hash:
        if not (parsed.files and item_files.are_waiting(stored)):
            return None
        found = fetching.fetch(target.account, parsed.files, known=known, files=files)
        if not item_files.has_news(stored, found, now=target.now):
            return None
        return found
    return fetching.fetch(target.account, parsed.files, known=known, files=files)


def _content(
    account: AccountRef,
    parsed: Parsed,
    files: Sequence[FileText],
    *,
    stored: Item | None,
    start: Start | None,
    ready: Vectors,
    wanted: Sequence[Passage] | None,
    deadline: Deadline,
) -> _Content:
    wanted = passages.split_passages(parsed) if wanted is None else wanted
    payer = enrichment.build_payer(account)
    # Limits that are set after the item came count from the next call; after its files, from this.
    budgets = start.budgets.found if start and not parsed.files else None
    with _asking:
        return _Content(
            parsed=parsed,
            files=files,
            reading=enrichment.read(parsed, payer=payer, deadline=deadline, budgets=budgets),
            passages=wanted,
            vectors=passages.find_vectors(
                wanted,
                stored=stored,
                ready=ready,
                payer=payer,
                deadline=deadline,
                models=start.models.found if start else None,
            ),
        )


def forget(*, account: AccountRef, source_id: str, at: datetime) -> IngestOutcome:
    """Remove an item that the provider deleted at `at`, and remember that it was.

    Its text, vectors and mentions go; entities nobody else mentions go too. A version that
    is newer than the deletion stays (stale). Raises nothing of its own.
    """
    target = _Target(
        account=account,
        source_id=source_id,
        version=Version(number=0, updated_at=at),
        now=at,
    )
    with transaction.atomic():
        for seen in target.rows().filter(content_type="event", deleted_at=None).defer("text"):
            _lock_series(target, occurrences.find_series(seen))
        row, is_new = _locked(target)
        row.last_deleted_at = max(row.last_deleted_at or at, at)
        if row.deleted_at or is_new:
            row.deleted_at = row.last_deleted_at
            row.save(update_fields=["deleted_at", "last_deleted_at"])
            return IngestOutcome(state="absent", item_id=None)
        if row.source_updated_at and row.source_updated_at > at:
            row.save(update_fields=["last_deleted_at"])
            return IngestOutcome(state="stale", item_id=row.id, summary=row.summary)
        occurrences.remove_occurrences(row)
        replace_mentions(account=account, item_id=row.id, subjects=())
        Chunk.objects.filter(item=row).delete()
        row.files.all().delete()
        row.title = row.summary = row.text = row.content_hash = ""
        row.sender_name = row.sender_address = ""
        row.identifiers, row.metadata, row.deleted_at = [], {}, at
        row.labels_before = None
        row.occurrences_until = None
        indexing.index(row)
        row.save()
        write_counts.count_writes([row])
        return IngestOutcome(state="deleted", item_id=row.id)


def leave_out(*, account: AccountRef, source_id: str, at: datetime) -> bool:
    """Empty an item, if it is stored, that the account's operator does not let in; whether it went.
    It was not deleted, so this very version comes back where the operator lets it in again."""
    rows = Item.objects.filter(account_id=account.id, source=account.source, source_id=source_id)
    stored = rows.filter(deleted_at=None).values("last_deleted_at").first()
    if stored is None or forget(account=account, source_id=source_id, at=at).state != "deleted":
        return False
    rows.update(**stored)
    return True


def _lock_series(target: _Target, series: str | None) -> None:
    """Before the row is locked: a series and one of it wait for each other here alone."""
    occurrences.lock_series(account_id=target.account.id, series=series or target.source_id)


def _locked(target: _Target) -> tuple[Item, bool]:
    """The row of this item, locked, and whether it was made just now."""
    fresh = _fresh(target)
    Item.objects.bulk_create([fresh], ignore_conflicts=True)
    row: Item = target.rows().select_for_update().get()
    return row, row.id == fresh.id


def _fresh(target: _Target) -> Item:
    return Item(
        id=uuid.uuid4(),
        account_id=target.account.id,
        source=target.account.source,
        source_id=target.source_id,
        occurred_at=target.now,
        ingested_at=target.now,
    )


def _refresh(target: _Target, parsed: Parsed, stored: Item | None) -> IngestOutcome | None:
    """What `_touch` does, where nobody else writes the item and no other depends on it."""
    if stored is None or stored.deleted_at or parsed.content_type == "event":
        return None
    state = metadata.refresh(stored, parsed, target.version).store()
    return IngestOutcome(state=state, item_id=stored.id, summary=stored.summary) if state else None


def _touch(target: _Target, parsed: Parsed) -> IngestOutcome | None:
    """Bring up to date what is beside the content. None: the content is another by now."""
    with transaction.atomic():
        if parsed.content_type == "event":
            _lock_series(target, parsed.metadata["series_id"])
        row = target.rows().select_for_update().first()
        if row is None or row.content_hash != parsed.content_hash:
            return None
        if is_stale(target.version, stored=row.version, last_deleted_at=row.last_deleted_at):
            return IngestOutcome(state="stale", item_id=row.id, summary=row.summary)
        derived = {name: row.metadata[name] for name in metadata.DERIVED if name in row.metadata}
        before = (row.metadata, row.occurred_at, row.identifiers)
        metadata.set_metadata(
            row, parsed, target.version, fallback=metadata.FALLBACK in row.metadata
        )
        row.metadata |= derived
        if before != (row.metadata, row.occurred_at, row.identifiers):
            described = indexing.describe(row.sender_name, row.metadata)
            if described != indexing.describe(row.sender_name, before[0]):
                indexing.index(row)
            row.save()
            occurrences.place_occurrences(row, now=target.now)
            write_counts.count_writes([row])
            return IngestOutcome(state="metadata", item_id=row.id, summary=row.summary)
        row.save(update_fields=["source_version", "source_updated_at"])
        return IngestOutcome(state="unchanged", item_id=row.id, summary=row.summary)


def _store(
    target: _Target,
    content: _Content,
    calls: metering.Calls,
    beside: Callable[[], Beside | None] | None,
) -> IngestOutcome | None:
    """As a new item; None when it is there by now."""
    row = _fresh(target)
    stored = new_items.store(
        row,
        search=_fill(row, target, content),
        account=target.account,
        files=item_files.build_rows(row, content.parsed.files, content.files, now=target.now),
        passages=content.passages,
        vectors=content.vectors,
        subjects=content.reading.subjects,
        calls=calls,
        beside=beside,
    )
    if stored is None:
        return None
    return IngestOutcome(
        state="created", item_id=row.id, summary=row.summary, has_beside=stored.has_beside
    )


def _write(target: _Target, content: _Content) -> IngestOutcome:
    """Whether or not there is such an item."""
    parsed, reading = content.parsed, content.reading
    with transaction.atomic():
        if parsed.content_type == "event":
            _lock_series(target, parsed.metadata["series_id"])
        row, is_new = _locked(target)
        if is_stale(target.version, stored=row.version, last_deleted_at=row.last_deleted_at):
            return IngestOutcome(state="stale", item_id=row.id, summary=row.summary)
        returns = row.deleted_at is not None
        _fill(row, target, content)
        row.save()
        occurrences.place_occurrences(row, now=target.now)
        item_files.replace_files(row, parsed.files, content.files, is_new=is_new, now=target.now)
        passages.replace_passages(row, content.passages, content.vectors, is_new=is_new)
        replace_mentions(
            account=target.account, item_id=row.id, subjects=reading.subjects, is_new=is_new
        )
        write_counts.count_writes([row])
    return IngestOutcome(
        state="created" if is_new or returns else "updated",
        item_id=row.id,
        summary=row.summary,
    )


def _fill(row: Item, target: _Target, content: _Content) -> RawSQL:
    """Its search column, which the server has to work out."""
    parsed, reading = content.parsed, content.reading
    row.content_type = parsed.content_type
    row.title, row.text, row.summary = parsed.title, parsed.whole, reading.summary
    row.sender_name, row.sender_address = parsed.sender_name, parsed.sender_address
    row.content_hash = parsed.content_hash
    row.deleted_at, row.ingested_at = None, target.now
    metadata.set_metadata(row, parsed, target.version, fallback=reading.fallback)
    return indexing.index(row)

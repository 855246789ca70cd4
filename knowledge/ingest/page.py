"""What is found out about the items of a page together, so that each by itself costs less."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from integrations.child import Unreadable
from integrations.contracts import AccountRef, AnyItem
from integrations.contracts.scope import covers
from integrations.llm import metering
from integrations.llm.completions import ModelError, Payer
from knowledge.ingest import embedding_models, enrichment
from knowledge.ingest.metadata import DERIVED
from knowledge.ingest.passages import Passage, Vectors, embed_passages, split_passages
from knowledge.ingest.reading import read_item
from knowledge.models import Item
from knowledge.text.parsing import Parsed

log = logging.getLogger(__name__)

MAX_PASSAGES = 256  # of a page: their vectors wait in memory


@dataclass(frozen=True, kw_only=True)
class Absent:
    """An item that was read, and its passages as far as they are not in files."""

    parsed: Parsed
    passages: Sequence[Passage]


@dataclass(frozen=True, kw_only=True)
class PageLookup:
    """`unchanged`: ids of items that are stored exactly as they are. `absent`: those that were not
    stored at all when it was looked, by id. `unreadable`: why no child could read these, by id;
    they are not read again. `vectors`: of the passages, by every model that is written; not all,
    and none while the model does not answer."""

    unchanged: frozenset[str] = frozenset()
    absent: Mapping[str, Absent] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)
    vectors: Vectors = field(default_factory=dict)


NO_LOOKUP = PageLookup()


def look_up_page(*, account: AccountRef, items: Sequence[AnyItem]) -> PageLookup:
    """Look at the items of one page before they are ingested. Nothing is locked or written.

    One query, and one call of the embedding model for each 64 passages of new items. A model
    that does not answer, or may not be paid, is nothing: ingest asks by itself and says so.
    """
    items = [item for item in items if covers(account, item)]
    stored = _stored(account, items)
    times = Counter(item.id for item in items)
    unreadable: dict[str, str] = {}
    absent = {
        item.id: found
        for item in items
        if item.id not in stored and times[item.id] == 1 and (found := _absent(item, unreadable))
    }
    return PageLookup(
        unchanged=_unchanged(stored, items, unreadable),
        absent=absent,
        unreadable=unreadable,
        vectors=_vectors(enrichment.build_payer(account), absent.values()),
    )


def _stored(account: AccountRef, items: Sequence[AnyItem]) -> dict[str, Item]:
    rows = Item.objects.filter(
        account_id=account.id,
        source=account.source,
        source_id__in=[item.id for item in items],
    ).only(
        *("source_id", "content_hash", "source_version", "source_updated_at", "deleted_at"),
        *("occurred_at", "identifiers", "metadata"),
    )
    return {row.source_id: row for row in rows}


def _unchanged(
    stored: dict[str, Item], items: Sequence[AnyItem], unreadable: dict[str, str]
) -> frozenset[str]:
    found: dict[str, bool] = {}
    for item in items:
        row = stored.get(item.id)
        if row is None or row.deleted_at:
            continue
        # Twice on a page, in two versions: that is work.
        same = (row.source_version, row.source_updated_at) == (item.version, item.updated_at)
        try:
            found[item.id] = same and _is_same(row, item) and found.get(item.id, True)
        except Unreadable as error:
            unreadable[item.id], found[item.id] = error.reason, False
    return frozenset(source_id for source_id, same in found.items() if same)


def _is_same(row: Item, item: AnyItem) -> bool:
    parsed = read_item(item, source_id=item.id)
    metadata = {name: value for name, value in row.metadata.items() if name not in DERIVED}
    return (row.content_hash, row.occurred_at, row.identifiers, metadata) == (
        *(parsed.content_hash, parsed.occurred_at, list(parsed.identifiers), parsed.metadata),
    )


def _absent(item: AnyItem, unreadable: dict[str, str]) -> Absent | None:
    """None where that fails: it will fail again when the item is taken in, and is then its own
    dead letter, not the end of the page."""
    try:
        parsed = read_item(item, source_id=item.id)
        # The title of what has no text but files need not be embedded.
        known = parsed.text or not parsed.files
        return Absent(parsed=parsed, passages=split_passages(parsed) if known else ())
    except Unreadable as error:
        unreadable[item.id] = error.reason
        return None
    except Exception:
        log.exception("page.not_parsed")
        return None


def _vectors(payer: Payer, absent: Iterable[Absent]) -> Vectors:
    wanted: list[Passage] = []
    for item in absent:
        if len(wanted) + len(item.passages) <= MAX_PASSAGES:
            wanted += item.passages
    # Without a summary no item is stored, and what was embedded would be paid for nothing.
    if not wanted or metering.exhausted(payer, now=timezone.now()):
        return {}
    try:
        return {
            model: embed_passages(wanted, known={}, model=model, payer=payer)
            for model in embedding_models.list_written_models()
        }
    except ModelError as error:
        log.warning("page.not_embedded", extra={"code": error.code})
        return {}

"""What is found out about the items of a page together, so that each by itself costs less."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from integrations import metering
from integrations.completions import ModelError, Payer
from integrations.contracts import AccountRef, AnyItem
from knowledge import embedding_models, enrichment, occurrences
from knowledge.enrichment import Passage
from knowledge.models import Item
from knowledge.parsing import FILES_CUT, parse
from knowledge.passages import Vectors

log = logging.getLogger(__name__)

FALLBACK = "summary_fallback"
# What stands in the metadata beside what the provider sent.
DERIVED = (FALLBACK, FILES_CUT, occurrences.NOT_EXPANDED)
MAX_PASSAGES = 256  # of a page: their vectors wait in memory


@dataclass(frozen=True, kw_only=True)
class Beforehand:
    """`unchanged`: ids of items that are stored exactly as they are. `absent`: ids of those that
    were not stored at all when it was looked. `vectors`: of passages of absent ones, by every
    model that is written; not all, and none while the model does not answer."""

    unchanged: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    vectors: Vectors = field(default_factory=dict)


NOTHING = Beforehand()


def find_out(*, account: AccountRef, items: Sequence[AnyItem]) -> Beforehand:
    """Look at the items of one page before they are ingested. Nothing is locked or written.

    One query, and one call of the embedding model for each 64 passages of new items. A model
    that does not answer, or may not be paid, is nothing: ingest asks by itself and says so.
    """
    stored = _stored(account, items)
    times = Counter(item.id for item in items)
    fresh = [item for item in items if item.id not in stored and times[item.id] == 1]
    return Beforehand(
        unchanged=_unchanged(stored, items),
        absent=frozenset(item.id for item in fresh),
        vectors=_vectors(enrichment.payer(account), fresh),
    )


def unchanged(*, account: AccountRef, items: Sequence[AnyItem]) -> frozenset[str]:
    """The ids of those `items` that are stored exactly as they are here: ingesting them would
    change nothing. One query."""
    return _unchanged(_stored(account, items), items)


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


def _unchanged(stored: dict[str, Item], items: Sequence[AnyItem]) -> frozenset[str]:
    found: dict[str, bool] = {}
    for item in items:
        row = stored.get(item.id)
        if row is None or row.deleted_at:
            continue
        # Twice on a page, in two versions: that is work.
        found[item.id] = _is_same(row, item) and found.get(item.id, True)
    return frozenset(source_id for source_id, same in found.items() if same)


def _is_same(row: Item, item: AnyItem) -> bool:
    if (row.source_version, row.source_updated_at) != (item.version, item.updated_at):
        return False
    parsed = parse(item, source_id=item.id)
    metadata = {name: value for name, value in row.metadata.items() if name not in DERIVED}
    return (row.content_hash, row.occurred_at, row.identifiers, metadata) == (
        *(parsed.content_hash, parsed.occurred_at, list(parsed.identifiers), parsed.metadata),
    )


def _vectors(payer: Payer, items: Sequence[AnyItem]) -> Vectors:
    wanted = _first_passages(items)
    # Without a summary no item is stored, and what was embedded would be paid for nothing.
    if not wanted or metering.exhausted(payer, now=timezone.now()):
        return {}
    try:
        return {
            model: enrichment.vectors(wanted, known={}, model=model, payer=payer)
            for model in embedding_models.written()
        }
    except ModelError as error:
        log.warning("ingest.not_embedded_beforehand", extra={"code": error.code})
        return {}


def _first_passages(items: Sequence[AnyItem]) -> list[Passage]:
    """Of as many whole items as there is room for. What is in files is not known yet."""
    found: list[Passage] = []
    for item in items:
        parsed = parse(item, source_id=item.id)
        of_item = enrichment.passages(parsed) if parsed.text or not parsed.files else ()
        if len(found) + len(of_item) <= MAX_PASSAGES:
            found += of_item
    return found

"""What is beside an item's content: labels, times, who takes part. Brought up to date without a
model, where nothing else of the item changed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from django.db import connection
from pydantic import ValidationError

from integrations.child import Ended, Unreadable
from integrations.contracts import AccountRef, AnyItem
from integrations.ports.registry import BY_SOURCE
from knowledge.ingest import indexing, occurrences, write_counts
from knowledge.ingest.reading import read_item
from knowledge.ingest.stored import find_stored
from knowledge.models import Item
from knowledge.text.parsing import FILES_CUT, Parsed
from knowledge.versions import Version

FALLBACK = "summary_fallback"
# What stands in the metadata beside what the provider sent.
DERIVED = (FALLBACK, FILES_CUT, occurrences.NOT_EXPANDED)

# Of the version that was read, or of none: somebody else may have written the row since.
_REFRESH = """
WITH item AS (
    UPDATE knowledge_item SET source_version = %s, source_updated_at = %s, own_since = %s,
        metadata = %s::jsonb, labels_before = %s, occurred_at = %s, identifiers = %s {index}
    WHERE id = %s AND source_version = %s AND source_updated_at IS NOT DISTINCT FROM %s
        AND content_hash = %s AND metadata = %s::jsonb AND deleted_at IS NULL
    RETURNING account_id
),
counts AS (
    INSERT INTO knowledge_writecount (account_id, language, slot, writes)
    SELECT item.account_id, given.language, given.slot, 1
    FROM item, jsonb_to_recordset(%s::jsonb) given (language text, slot smallint)
    ON CONFLICT (account_id, language, slot)
    DO UPDATE SET writes = knowledge_writecount.writes + 1
)
SELECT account_id FROM item
"""


def set_metadata(row: Item, parsed: Parsed, version: Version, *, fallback: bool) -> None:
    """Fill the row with what the provider sent beside the content; the caller saves it."""
    _keep_labels(row, parsed)
    row.metadata = parsed.metadata | ({FALLBACK: True} if fallback else {})
    row.occurred_at, row.identifiers = parsed.occurred_at, list(parsed.identifiers)
    row.source_version, row.source_updated_at = version.number, version.updated_at
    row.own_since = None


def _keep_labels(row: Item, parsed: Parsed) -> None:
    """Those that a stored mail had before anybody changed them, once: however often they change
    until somebody looks, it is the first ones that the last are compared with."""
    had = row.metadata.get("labels")
    if had is None or row.labels_before is not None or parsed.content_type != "email":
        return
    if set(had) != set(parsed.metadata["labels"]):
        row.labels_before = had


@dataclass(frozen=True, kw_only=True)
class Refresh:
    """What is beside an item's content, ready to be stored."""

    statement: str
    values: Sequence[Any]
    has_changed: bool

    def store(self) -> Literal["metadata", "unchanged"] | None:
        """Whether it had changed. None where somebody wrote the row meanwhile: then nothing was
        stored. One statement."""
        with connection.cursor() as cursor:
            cursor.execute(self.statement, self.values)
            if cursor.fetchone() is None:
                return None
        return "metadata" if self.has_changed else "unchanged"


def refresh(
    row: Item, parsed: Parsed, version: Version, *, own_since: int | None = None
) -> Refresh:
    """What is to be stored where the content is the same. `own_since`: actions of the assistant
    made this version, and all from that one on. Not for events, whose times depend on others'."""
    seen = (row.id, row.source_version, row.source_updated_at, row.content_hash)
    before, described = (row.metadata, row.occurred_at, row.identifiers), _describe(row)
    derived = {name: row.metadata[name] for name in DERIVED if name in row.metadata}
    labels_before = row.labels_before
    set_metadata(row, parsed, version, fallback=False)
    if own_since is not None:
        row.labels_before = labels_before  # nobody has to look at what the assistant did
    row.metadata |= derived
    has_changed = before != (row.metadata, row.occurred_at, row.identifiers)
    index, indexed = "", []
    people, facts = now_described = _describe(row)
    if now_described != described and people == described[0] and row.languages is not None:
        search = indexing.index_facts(facts)
        index, indexed = f", search = {search.sql}", [*search.params]
    elif now_described != described:
        search = indexing.index(row)
        index = f", search = {search.sql}, languages = %s"
        indexed = [*search.params, row.languages]
    counts = [
        {"language": language, "slot": slot}
        for _, language, slot in (write_counts.find_counts([row]) if has_changed else ())
    ]
    return Refresh(
        statement=_REFRESH.format(index=index),
        values=[
            *(row.source_version, row.source_updated_at, own_since),
            *(json.dumps(row.metadata), row.labels_before, row.occurred_at, row.identifiers),
            *indexed,
            *seen,
            *(json.dumps(before[0]), json.dumps(counts)),
        ],
        has_changed=has_changed,
    )


class OwnChange(NamedTuple):
    """What actions of the assistant made of one item: its versions, and the last as it is read."""

    account: AccountRef
    since: int
    last: AnyItem
    parsed: Parsed

    def store(self) -> Literal["metadata", "unchanged"] | None:
        """As `Refresh.store`; nor where anything else changed the item too. Two queries."""
        row = find_stored(self.account, self.last.id)
        if row is None or row.deleted_at or row.source_version != self.since - 1:
            return None
        if row.content_type == "event" or row.content_hash != self.parsed.content_hash:
            return None
        version = Version(number=self.last.version, updated_at=self.last.updated_at)
        own_since = row.own_since or self.since
        return refresh(row, self.parsed, version, own_since=own_since).store()


def find_own_changes(account: AccountRef, answers: Iterable[Mapping[str, Any]]) -> list[OwnChange]:
    """What actions of the assistant changed, by the provider's answers to them. Once it is stored,
    the word of it that the provider sends everybody tells nothing new (`Item.own_since`). One of
    each item, but not where an answer is not the whole item, or one is missing. Asks nobody."""
    items: dict[str, list[AnyItem]] = {}
    for answer in answers:
        with suppress(ValidationError):
            item = BY_SOURCE[account.source].item_type.model_validate(answer)
            items.setdefault(item.id, []).append(item)
    found = (_find_own(account, each) for each in items.values())
    return [change for change in found if change]


def is_own(account: AccountRef, item: AnyItem) -> bool:
    """Whether actions of the assistant made this version, and that is stored."""
    return Item.objects.filter(
        account_id=account.id,
        source=account.source,
        source_id=item.id,
        deleted_at=None,
        own_since__lte=item.version,
        source_version__gte=item.version,
    ).exists()


def _find_own(account: AccountRef, items: Sequence[AnyItem]) -> OwnChange | None:
    last, since = items[-1], items[0].version
    # Nobody changed it in between: what a user did has to be looked at as such.
    if since <= 1 or [one.version for one in items] != [*range(since, since + len(items))]:
        return None
    try:
        parsed = read_item(last, source_id=last.id)
    except (Unreadable, Ended):
        return None
    return OwnChange(account, since, last, parsed)


def _describe(row: Item) -> tuple[str, str]:
    return indexing.describe(row.sender_name, row.metadata)

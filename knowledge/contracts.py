"""Values that cross the edge of `knowledge`: what was found, what an ingest did."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from integrations.contracts import Source

TimeFilter = Literal["today", "yesterday", "last_week", "last_month", "custom"]


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """What to look for, and inside which walls.

    `account_ids` is the tenant wall: only items of these accounts can be found, and an
    empty tuple finds nothing. `since`/`until` (aware, half open) belong to `custom`.
    """

    account_ids: tuple[UUID, ...]
    query: str
    sources: tuple[str, ...] = ()
    content_types: tuple[str, ...] = ()
    time_filter: TimeFilter | None = None
    since: datetime | None = None
    until: datetime | None = None
    time_zone: str = "UTC"
    entity: str = ""  # a person's, project's or organisation's name, or an address
    excluded_ids: tuple[UUID, ...] = ()
    limit: int = 10  # 1 to 50


@dataclass(frozen=True, kw_only=True)
class FoundItem:
    id: UUID
    account_id: UUID
    source: str
    source_id: str
    content_type: str
    title: str
    summary: str
    text: str  # the best passage, at most 2,000 characters
    relevance: float  # 0 to 1, comparable only inside one result
    occurred_at: datetime
    sender_name: str = ""
    sender_address: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    snippet: str = ""  # of the passage, at most 240 characters of plain text on one line
    highlights: tuple[tuple[int, int], ...] = ()  # what was looked for in it, half open

    @property
    def object_id(self) -> str:
        """What actions call it: an issue by its key."""
        key = self.metadata.get("key") if self.content_type == "issue" else ""
        return str(key or self.source_id)


@dataclass(frozen=True, kw_only=True)
class FoundEntity:
    """`mentions` counts items inside the filters: those the person sent, or, of who sent
    none, those that are about or to him."""

    kind: str  # person, project, organisation, topic
    name: str
    address: str
    mentions: int


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    items: tuple[FoundItem, ...]
    entities: tuple[FoundEntity, ...]


@dataclass(frozen=True, kw_only=True)
class StoredMail:
    """The head of one mail as it was last seen. `authenticated` says that the sender was
    proved (DMARC) when it was, and `left_by_agent` that nobody has changed or read it since the
    assistant did something with it."""

    source_id: str
    thread_id: str
    sender: str
    subject: str
    list_id: str
    authenticated: bool
    labels: tuple[str, ...]
    occurred_at: datetime
    left_by_agent: bool = False


IngestState = Literal[
    "created", "updated", "metadata", "unchanged", "stale", "deleted", "absent", "left_out"
]


@dataclass(frozen=True, kw_only=True)
class IngestOutcome:
    """What became of one version of one item.

    unchanged: this very content is stored already, no model was called. stale: a newer
    version (or a deletion) is stored already, nothing was touched. metadata: only fields
    beside the content changed. absent: a deletion of something never seen, remembered.
    left_out: the account's operator does not let it in; what was stored of it is gone.
    `labels_before` are those of a mail as somebody looked at them last
    (`knowledge.ingest.label_changes`); None: nothing was stored, or this is older.
    `has_beside`: what was to be stored beside a new item was.
    """

    state: IngestState
    item_id: UUID | None
    summary: str = ""
    labels_before: tuple[str, ...] | None = None
    has_beside: bool = False


SyncState = Literal["queued", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True, kw_only=True)
class SourceProgress:
    """How far the sync of one account is. received = processed + skipped + failed.

    `remaining`, `percent` and `eta_seconds` are None where nobody can know. `reasons` counts
    the skipped and failed items by reason; what is read again from the start of the window, because
    the place in the list had expired (`restarts` times), is counted again. `error` is a sentence
    for people about why a sync stopped, or waits until `next_try_at`; a failed one that is started
    again within a day goes on where it stopped.
    """

    source: Source
    account_id: UUID
    state: SyncState
    received: int
    processed: int
    skipped: int
    failed: int
    remaining: int | None
    percent: int | None
    eta_seconds: int | None
    reasons: dict[str, int]
    restarts: int
    started_at: datetime | None
    finished_at: datetime | None
    next_try_at: datetime | None
    error: str


@dataclass(frozen=True, kw_only=True)
class SyncProgress:
    """How far one sync is. `state` is failed or cancelled when the sync of a source is."""

    id: UUID
    external_user_id: str
    only_changes: bool
    state: SyncState
    created_at: datetime
    finished_at: datetime | None
    sources: tuple[SourceProgress, ...]

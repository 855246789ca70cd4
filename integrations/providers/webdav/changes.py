"""What has happened to somebody's files since they were last looked at: every version is compared
with the one that was seen. At the first look nothing is news: a sync reads in what is there."""

from collections.abc import Generator
from dataclasses import dataclass
from datetime import datetime

from integrations.contracts import AccountRef
from integrations.contracts.events import ItemEvent
from integrations.models import FilePlace
from integrations.providers import item_events
from integrations.providers.webdav import documents
from integrations.providers.webdav.folders import File, Files


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What happened in one folder: events, each with a name of its own that is the same however
    often it is seen. Keep what is known in one transaction with them."""

    events: tuple[item_events.Event, ...] = ()
    places: tuple[FilePlace, ...] = ()

    def keep(self) -> None:
        FilePlace.objects.bulk_update(self.places, ["etag", "changes"])


def look(account: AccountRef, *, seen_at: datetime | None) -> Generator[Looked]:
    """Folder by folder. Keep each before going on. Raises ProviderError."""
    own, present = Files(account), set[str]()
    for listing in own.walk():
        rows = documents.places(account, [one.path for one in listing.files])
        present |= set(rows)
        changed = [one for one in listing.files if rows[one.path].etag != _version(one)]
        events = [_seen(own, rows[one.path], one) for one in changed]
        yield Looked(
            events=tuple(events) if seen_at else (),
            places=tuple(rows[one.path] for one in changed),
        )
    known = FilePlace.objects.filter(account_id=account.id).exclude(etag="")
    gone = [row for row in known if row.path not in present]
    yield Looked(events=tuple(_removed(own, row) for row in gone), places=tuple(gone))


def _version(file: File) -> str:
    """What tells it from other versions, where the server gives no tag by what it says beside."""
    return file.etag or f"{file.changed_at.isoformat()} {file.size}"


def _seen(own: Files, row: FilePlace, file: File) -> item_events.Event:
    kind: item_events.Kind = "updated" if row.changes else "created"
    row.etag, row.changes = _version(file), row.changes + 1
    found = documents.describe(own, row, file)
    return _named(row, item_events.seen(own.account, kind, found))


def _removed(own: Files, row: FilePlace) -> item_events.Event:
    row.etag, row.changes = "", row.changes + 1
    return _named(row, item_events.gone(own.account, row.document_id))


def _named(row: FilePlace, event: ItemEvent) -> item_events.Event:
    return f"webdav {row.changes} {row.etag}", event

"""What has happened to somebody's files at Microsoft since they were last looked at.

Graph tells the changes of a drive behind a link that it gave before. At the first look there is a
link and nothing else. Where Graph has lost it, all that is there is listed, and what was changed
since the last look is looked at anew; the new link is taken before. A page's rows are hints: a
change to a folder brings the files above and below it, too, and a file that is as it was has the
same name and is not stored twice.
"""

import hashlib
from collections.abc import Generator
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import CursorExpired
from integrations.models import MailFolderLink, MailState
from integrations.providers import item_events
from integrations.providers.drives.changes import Seen, events_of
from integrations.providers.microsoft.changes import Looked
from integrations.providers.microsoft_files.answers import ItemSaid, ItemsSaid
from integrations.providers.microsoft_files.files import Files, Grants

NEW_WITHIN = timedelta(days=2)
NEVER = datetime.min.replace(tzinfo=UTC)
# The only one that is watched, as the row of its link names it.
DRIVE = "drive"


def look(account: AccountRef, *, seen_at: datetime | None = None) -> Generator[Looked]:
    """Page by page. Keep each before going on. Raises ProviderError."""
    own, now = Files(account), timezone.now()
    mark = MailState.objects.filter(account_id=account.id).first()
    row = MailFolderLink.objects.filter(account_id=account.id, folder=DRIVE).first()
    if mark is None or row is None:
        yield Looked(account=account, folder=DRIVE, link=own.newest())
        return
    new_since = max(mark.begun_at.replace(microsecond=0), min(now, seen_at or now) - NEW_WITHIN)
    try:
        for page in own.changes(row.link):
            yield _looked(own, page, behind=row.link, new_since=new_since)
    except CursorExpired:
        yield from _look_anew(own, since=min(now, seen_at or mark.begun_at), new_since=new_since)


def _looked(own: Files, page: ItemsSaid, *, behind: str, new_since: datetime) -> Looked:
    """The link is kept with the last page alone: what came before is seen again after a fall, and
    stored once."""
    link = own.session.path_of(page.delta_link) if page.delta_link else ""
    events = _events(own, page.value, behind=behind, new_since=new_since)
    return Looked(account=own.account, folder=DRIVE, link=link, events=events)


def _look_anew(own: Files, *, since: datetime, new_since: datetime) -> Generator[Looked]:
    # Before the files, so that what comes meanwhile is seen the next time.
    link = own.newest()
    for page in own.changes():
        rows = tuple(one for one in page.value if one.changed is None or one.changed >= since)
        events = _events(own, rows, behind="", new_since=new_since)
        yield Looked(account=own.account, folder=DRIVE, events=events)
    yield Looked(account=own.account, folder=DRIVE, link=link)


def _events(
    own: Files, rows: tuple[ItemSaid, ...], *, behind: str, new_since: datetime
) -> tuple[item_events.Event, ...]:
    """Each file once, as it stands in the last of its rows."""
    latest = {one.id: one for one in rows}
    files = [one for one in latest.values() if one.is_file and one.deleted is None]
    let_in = own.grants_of([one.id for one in files])
    seen = [
        _gone(one, behind)
        for one in latest.values()
        if one.deleted is not None and one.folder is None
    ]
    seen += [_seen(own, one, let_in[one.id]) for one in files]
    return events_of(own.account, seen, new_since=new_since)


def _seen(own: Files, said: ItemSaid, let_in: Grants | None) -> Seen:
    return Seen(
        id=said.id,
        name=f"graph {said.id} {said.etag}",
        came_at=said.created or NEVER,
        describe=lambda: own.describe(said, let_in),
    )


def _gone(said: ItemSaid, behind: str) -> Seen:
    """Graph does not say when: one that came back and went again stands behind another link."""
    where = hashlib.sha256(behind.encode()).hexdigest()[:16]
    return Seen(id=said.id, name=f"graph gone {said.id} {where}", came_at=NEVER, describe=None)

"""What has happened to somebody's files at Google Drive since they were last looked at.

Google keeps a feed of changes; how far it was read is a token. At the first look there is a token
and nothing else. Where Google takes the token no more, what was changed since the last look is
looked at anew; the new token is taken before.
"""

from collections.abc import Generator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import CursorExpired, NotFound, Rejected
from integrations.models import MailState
from integrations.network.answers import parse
from integrations.providers import item_events
from integrations.providers.drives.changes import Seen, events_of
from integrations.providers.google_drive.answers import (
    FOLDER,
    ChangeSaid,
    ChangesSaid,
    FileSaid,
    StartSaid,
)
from integrations.providers.google_drive.files import FIELDS, Files
from integrations.providers.mailboxes.changes import Looked

NEW_WITHIN = timedelta(days=2)
AT_ONCE = 100
NEVER = datetime.min.replace(tzinfo=UTC)


def look(account: AccountRef, *, seen_at: datetime | None = None) -> Generator[Looked]:
    """Page by page. Keep each before going on. Raises ProviderError."""
    own, now = Files(account), timezone.now()
    mark = MailState.objects.filter(account_id=account.id).first()
    if mark is None:
        yield Looked(account=account, state=_newest(own))
        return
    new_since = max(mark.begun_at.replace(microsecond=0), min(now, seen_at or now) - NEW_WITHIN)
    try:
        state = mark.state
        while True:
            said = _changes(own, state)
            # A page's token is good for the next look, too.
            state = said.next_page or said.newest
            events = _events(own, said.changes, new_since=new_since)
            if events or state != mark.state:
                yield Looked(account=account, state=state, events=events)
            if said.next_page is None:
                return
    except (CursorExpired, NotFound, Rejected):
        yield from _look_anew(own, since=min(now, seen_at or mark.begun_at), new_since=new_since)


def _changes(own: Files, token: str) -> ChangesSaid:
    wanted: dict[str, Any] = {
        "pageToken": token,
        "pageSize": AT_ONCE,
        "spaces": "drive",
        "includeRemoved": "true",
        "fields": f"nextPageToken,newStartPageToken,changes(fileId,removed,time,file({FIELDS}))",
    }
    return parse(ChangesSaid, own.session.get("/changes", wanted))


def _newest(own: Files) -> str:
    return parse(StartSaid, own.session.get("/changes/startPageToken")).token


def _look_anew(own: Files, *, since: datetime, new_since: datetime) -> Generator[Looked]:
    # Before the files, so that what comes meanwhile is seen the next time.
    state, page = _newest(own), None
    changed = (
        f"mimeType != '{FOLDER}' and modifiedTime >= '{since.astimezone(UTC):%Y-%m-%dT%H:%M:%S}'"
    )
    while True:
        said = own.listed(changed, most=AT_ONCE, page=page)
        rows = [ChangeSaid(fileId=one.id, file=one) for one in said.files]
        page = said.next_page
        events = _events(own, rows, new_since=new_since)
        if page is None:
            yield Looked(account=own.account, state=state, events=events)
            return
        before = MailState.objects.get(account_id=own.account.id).state
        yield Looked(account=own.account, state=before, events=events)


def _events(
    own: Files, rows: Sequence[ChangeSaid], *, new_since: datetime
) -> tuple[item_events.Event, ...]:
    seen = [one for row in rows if (one := _seen(own, row)) is not None]
    return events_of(own.account, seen, new_since=new_since)


def _seen(own: Files, row: ChangeSaid) -> Seen | None:
    said, id = row.file, row.id
    if said is not None and said.is_folder:
        return None
    if row.removed or (said is not None and said.trashed):
        return Seen(id=id, name=f"gdrive gone {id} {row.time}", came_at=NEVER, describe=None)
    if said is None:
        return None
    return Seen(
        id=said.id,
        name=f"gdrive {said.id} {said.version}",
        came_at=_came_at(said),
        describe=lambda: own.describe(said),
    )


def _came_at(said: FileSaid) -> datetime:
    """When it was made, or this user let in."""
    found = [at for at in (said.created, said.shared_at) if at is not None]
    return max(found, default=NEVER)

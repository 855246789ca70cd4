"""What has happened in a mailbox at Microsoft since it was last looked at.

Graph tells changes of one folder at a time, behind a link that it gave before. A folder that is
seen for the first time is gone through without a word, where the mailbox is new too. Where Graph
has lost the link, the folder is gone through anew: what arrived since the last look is looked at,
and what was seen already has the same name and is not stored twice.
"""

from collections.abc import Generator, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import CursorExpired, NotFound
from integrations.models import Delivery, MailFolderLink, MailState
from integrations.network.answers import parse
from integrations.providers import item_events
from integrations.providers.jmap.mailboxes import NOT_READ_IN
from integrations.providers.microsoft.changes import Looked
from integrations.providers.microsoft_mail.answers import Changes
from integrations.providers.microsoft_mail.mails import Mails, mails_of
from integrations.providers.microsoft_mail.reader import moment

# What lay elsewhere longer than this before it came into the mailbox is no new mail.
NEW_WITHIN = timedelta(days=2)
# What is older is not read in either, and would be gone through for nothing.
LOOKED_BACK = timedelta(days=30)
MOST_WATCHED = 100  # folders


def look(account: AccountRef, *, seen_at: datetime | None = None) -> Generator[Looked]:
    """Keep each step before going on. Raises ProviderError. `seen_at`: until when all that was new
    has been seen."""
    mails, now = mails_of(account), timezone.now()
    mark = MailState.objects.filter(account_id=account.id).first()
    new_since = None
    if mark is not None:
        recent = min(now, seen_at or now) - NEW_WITHIN
        new_since = max(mark.begun_at.replace(microsecond=0), recent)
    links = dict(MailFolderLink.objects.filter(account_id=account.id).values_list("folder", "link"))
    for folder in _watched(mails):
        try:
            yield from _folder(mails, folder, links.get(folder), new_since=new_since, now=now)
        except CursorExpired:
            yield from _folder(mails, folder, None, new_since=new_since, now=now)
        except NotFound:
            continue  # somebody deleted the folder meanwhile
    yield Looked(account=account)


def _watched(mails: Mails) -> list[str]:
    """Those with a role first."""
    others = {mails.roles.get(role) for role in NOT_READ_IN}
    found = [one.id for one in mails.folders.said if one.id not in others]
    return sorted(found, key=lambda id: id not in mails.roles.values())[:MOST_WATCHED]


def _folder(
    mails: Mails, folder: str, link: str | None, *, new_since: datetime | None, now: datetime
) -> Iterator[Looked]:
    begins = link is None
    first: dict[str, Any] = {
        "$select": "receivedDateTime",
        "$filter": f"receivedDateTime ge {moment(now - LOOKED_BACK)}",
    }
    if begins and new_since is not None:
        first["$filter"] = f"receivedDateTime ge {moment(new_since)}"
    path, since = f"/me/mailFolders/{folder}/messages/delta", link or "the beginning"
    got = mails.session.get(path, first) if link is None else mails.session.get(link)
    while True:
        changes = parse(Changes, got)
        events: tuple[item_events.Event, ...] = ()
        if new_since is not None:
            events = tuple(_events(mails, changes, since, new_since, begins=begins))
        link = mails.session.path_of(changes.delta_link) if changes.delta_link else ""
        if events or (link and link != since):
            yield Looked(account=mails.account, folder=folder, link=link, events=events)
        if not changes.next_link:
            return
        got = mails.session.get(mails.session.path_of(changes.next_link))


def _events(
    mails: Mails, changes: Changes, since: str, new_since: datetime, *, begins: bool
) -> Iterator[item_events.Event]:
    """Each mail once. One that is gone from its folder may lie in another: only Graph knows."""
    ids = list(dict.fromkeys(one.id for one in changes.value))
    known = frozenset(
        Delivery.objects.filter(account_id=mails.account.id, source_id__in=ids).values_list(
            "source_id", flat=True
        )
    )
    for id in ids:
        try:
            said = mails.get(id)
        except NotFound:
            yield f"graph gone {id}", item_events.gone(mails.account, id)
            continue
        is_in = mails.is_read_in(said)
        if is_in and id not in known and said.received_at >= new_since:
            for found in mails.read([said]):
                yield f"graph created {id}", item_events.seen(mails.account, "created", found.email)
        elif not begins and (is_in or said.folder == mails.roles.get("trash")):
            for found in mails.read([said]):
                # A mark may be set, taken off and set again: each time is another version.
                name = f"graph updated {id} {said.version}"
                yield name, item_events.seen(mails.account, "updated", found.email)

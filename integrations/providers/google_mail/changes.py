"""What has happened in a Gmail mailbox since it was last looked at.

Gmail numbers its history and keeps it for a week or so, sometimes for hours. A mailbox that is seen
for the first time gets a mark and nothing else. Where the history before the mark is gone, all that
arrived since then is looked at anew: the new mark is taken before, and what was seen already has
the same name and is not stored twice.
"""

from collections.abc import Generator, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.models import Delivery, MailState
from integrations.network.answers import parse
from integrations.providers import item_events
from integrations.providers.google_mail.answers import History, MessageSaid, Profile
from integrations.providers.google_mail.mails import ME, Mails, mails_of
from integrations.providers.google_mail.reader import READ_IN, is_read_in
from integrations.providers.mailboxes.changes import Looked

# What lay elsewhere longer than this before it came into the mailbox is no new mail.
NEW_WITHIN = timedelta(days=2)
AT_ONCE = 100
MOST_NEW = 500  # mails that are looked at anew; the next sync finds the others


def look(account: AccountRef, *, seen_at: datetime | None = None) -> Generator[Looked]:
    """Keep each step before going on. Raises ProviderError. `seen_at`: until when all that was new
    has been seen."""
    mails = mails_of(account)
    mark = MailState.objects.filter(account_id=account.id).first()
    if mark is None:
        yield Looked(account=account, state=_newest(mails))
        return
    now = timezone.now()
    new_since = max(mark.begun_at.replace(microsecond=0), min(now, seen_at or now) - NEW_WITHIN)
    page = None
    try:
        while True:
            found = _history(mails, mark.state, page)
            # How far it was looked is known only behind the last page.
            state = mark.state if found.next_page else found.newest
            events = tuple(_events(mails, found, since=mark.state, new_since=new_since))
            if events or state != mark.state:
                yield Looked(account=account, state=state, events=events)
            if found.next_page is None:
                return
            page = found.next_page
    except NotFound:
        yield from _look_anew(mails, mark, new_since=new_since)


def _history(mails: Mails, since: str, page: str | None) -> History:
    wanted: dict[str, Any] = {"startHistoryId": since, "maxResults": AT_ONCE}
    more = {"pageToken": page} if page else {}
    return parse(History, mails.session.get(f"{ME}/history", {**wanted, **more}))


def _newest(mails: Mails) -> str:
    return parse(Profile, mails.session.get(f"{ME}/profile")).history


def _look_anew(mails: Mails, mark: MailState, *, new_since: datetime) -> Iterator[Looked]:
    # Before the mails, so that what comes meanwhile is seen the next time.
    state, page, seen = _newest(mails), None, 0
    query = f"{READ_IN} after:{int(new_since.timestamp())}"
    while seen < MOST_NEW:
        listed = mails.listed(query, most=AT_ONCE, page=page)
        ids = [one.id for one in listed.messages]
        events = tuple(_new(mails, ids, new_since=new_since))
        yield Looked(account=mails.account, state=mark.state, events=events)
        seen, page = seen + len(ids), listed.next_page
        if page is None:
            break
    yield Looked(account=mails.account, state=state)


def _events(
    mails: Mails, found: History, *, since: str, new_since: datetime
) -> Iterator[item_events.Event]:
    """Each mail once, whatever befell it."""
    gone = {one.message.id for row in found.history for one in row.deleted}
    added = dict.fromkeys(one.message.id for row in found.history for one in row.added)
    marked = dict.fromkeys(
        one.message.id for row in found.history for one in (*row.labelled, *row.unlabelled)
    )
    yield from _new(mails, [id for id in added if id not in gone], new_since=new_since)
    left = [id for id in marked if id not in gone and id not in added]
    yield from _changed(mails, left, since=since, new_since=new_since)
    for id in sorted(gone):
        yield f"gmail gone {id} since {since}", item_events.gone(mails.account, id)


def _new(mails: Mails, ids: Iterable[str], *, new_since: datetime) -> Iterator[item_events.Event]:
    for found in mails.read(ids):
        if is_read_in(found.said):
            kind: item_events.Kind = "created" if found.said.arrived >= new_since else "updated"
            yield (
                f"gmail created {found.said.id}",
                item_events.seen(mails.account, kind, found.email),
            )


def _changed(
    mails: Mails, ids: list[str], *, since: str, new_since: datetime
) -> Iterator[item_events.Event]:
    """Mails that are marked otherwise or lie elsewhere now. One that lay among the junk until now
    is new."""
    rows = Delivery.objects.filter(account_id=mails.account.id, source_id__in=ids)
    known = frozenset(rows.values_list("source_id", flat=True))
    for found in mails.read(ids):
        said = found.said
        if said.id not in known and said.arrived >= new_since and is_read_in(said):
            yield (
                f"gmail created {said.id}",
                item_events.seen(mails.account, "created", found.email),
            )
        elif is_read_in(said) or _is_thrown_away(said):
            # A mark may be set, taken off and set again: each time is another event.
            labels = " ".join(found.email.labels)
            name = f"gmail updated {said.id} {labels} since {since}"
            yield name, item_events.seen(mails.account, "updated", found.email)


def _is_thrown_away(said: MessageSaid) -> bool:
    return "TRASH" in said.labels and "DRAFT" not in said.labels

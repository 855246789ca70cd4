"""What has happened in a JMAP mailbox since it was last looked at (RFC 8620, 5.2).

A mailbox that is seen for the first time gets a mark and nothing else: what it holds is read in by
a sync, and is no news. Where the server cannot say any more what changed since the mark, all that
arrived since then is looked at anew; what was seen already has the same name and is not stored
twice.
"""

from collections.abc import Generator, Iterator, Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import CursorExpired, Rejected
from integrations.models import Delivery, MailState
from integrations.providers import item_events
from integrations.providers.jmap.answers import EmailSaid, EmailsChanged, moment
from integrations.providers.jmap.mailboxes import NOT_READ_IN
from integrations.providers.jmap.mails import Mails, mails_of
from integrations.providers.mailboxes.changes import Looked

# What lay elsewhere longer than this before it came into a folder is no new mail.
NEW_WITHIN = timedelta(days=2)
MOST_NEW = 500  # mails that are looked at anew; the next sync finds the others
OLDEST_FIRST = [{"property": "receivedAt", "isAscending": True}]


def look(account: AccountRef, *, seen_at: datetime | None = None) -> Generator[Looked]:
    """Keep each step before going on. Raises ProviderError. `seen_at`: until when all that was new
    has been seen."""
    mails = mails_of(account)
    mark = MailState.objects.filter(account_id=account.id).first()
    if mark is None:
        yield Looked(account=account, state=mails.state())
        return
    since, now = mark.state, timezone.now()
    new_since = min(now, seen_at or now) - NEW_WITHIN
    while True:
        wanted = {"sinceState": since, "maxChanges": mails.session.resource.at_once}
        try:
            found = mails.session.ask(("Email/changes", wanted)).to(0, EmailsChanged)
        except (CursorExpired, Rejected):  # a state that it does not know is an old one to it
            # Servers say when a mail came by the second.
            begun_at = mark.begun_at.replace(microsecond=0)
            yield from _look_anew(mails, mark, new_since=max(begun_at, new_since))
            return
        if found.new_state == since and not found.more:
            return
        events = [
            *_new(mails, found.created, new_since=new_since),
            *_changed(mails, found.updated, since=since, mark=mark, new_since=new_since),
            *(
                (f"jmap gone {id} since {since}", item_events.gone(account, id))
                for id in found.destroyed
            ),
        ]
        yield Looked(account=account, state=found.new_state, events=tuple(events))
        since = found.new_state
        if not found.more:
            return


def _look_anew(mails: Mails, mark: MailState, *, new_since: datetime) -> Iterator[Looked]:
    # Before the mails, so that what comes meanwhile is seen the next time.
    state, at_once = mails.state(), mails.session.resource.at_once
    ids = mails.query(filter={"after": moment(new_since)}, sort=OLDEST_FIRST, limit=MOST_NEW)
    for start in range(0, len(ids), at_once):
        events = _new(mails, ids[start : start + at_once], new_since=new_since)
        yield Looked(account=mails.account, state=mark.state, events=tuple(events))
    yield Looked(account=mails.account, state=state)


def _new(mails: Mails, ids: Sequence[str], *, new_since: datetime) -> Iterator[item_events.Event]:
    for found in mails.read(_read_in(mails, ids)):
        kind: item_events.Kind = "created" if found.said.received_at >= new_since else "updated"
        yield f"jmap created {found.said.id}", item_events.seen(mails.account, kind, found.email)


def _changed(
    mails: Mails, ids: Sequence[str], *, since: str, mark: MailState, new_since: datetime
) -> Iterator[item_events.Event]:
    """Mails that are marked otherwise or lie elsewhere now. One that lay among the junk until now
    is new."""
    known = frozenset(
        Delivery.objects.filter(account_id=mails.account.id, source_id__in=ids).values_list(
            "source_id", flat=True
        )
    )
    for found in mails.read(_read_in(mails, ids, and_trash=True)):
        id, arrived = found.said.id, found.said.received_at
        is_new = id not in known and arrived >= max(mark.begun_at, new_since)
        if is_new and _is_read_in(mails, found.said):
            yield f"jmap created {id}", item_events.seen(mails.account, "created", found.email)
        else:
            # A mark may be set, taken off and set again: each time is another event.
            labels = " ".join(found.email.labels)
            yield (
                f"jmap updated {id} {labels} since {since}",
                item_events.seen(mails.account, "updated", found.email),
            )


def _read_in(mails: Mails, ids: Sequence[str], *, and_trash: bool = False) -> tuple[EmailSaid, ...]:
    trash = frozenset(mails.mailboxes.ids(["trash"])) if and_trash else frozenset()
    return tuple(
        one for one in mails.get(ids)[1] if _is_read_in(mails, one) or one.mailboxes & trash
    )


def _is_read_in(mails: Mails, said: EmailSaid) -> bool:
    return bool(said.mailboxes - set(mails.mailboxes.ids(NOT_READ_IN)))

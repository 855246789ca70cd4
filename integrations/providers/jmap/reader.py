"""Reads of one mailbox over JMAP."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from integrations.contracts import (
    AccountRef,
    AnyItem,
    Change,
    Email,
    Folder,
    Mailbox,
    Named,
    Page,
    Rejected,
)
from integrations.contracts.outgoing import Draft
from integrations.contracts.people import Correspondence, Correspondent
from integrations.exceptions import CursorExpired, NotFound
from integrations.mail import correspondents
from integrations.mail.addresses import Mailbox as Person, is_addr_spec
from integrations.mail.correspondents import Sent
from integrations.mail.mail import MAX_MESSAGE_BYTES
from integrations.ports.evidence import Evidence
from integrations.ports.mail import MailReader
from integrations.providers.jmap import evidence
from integrations.providers.jmap.answers import Address, EmailSaid, HeadersSaid, moment
from integrations.providers.jmap.mailboxes import DRAFT, NOT_READ_IN, own_words
from integrations.providers.jmap.mails import IS_ID, NEWEST_FIRST, Mails, mails_of
from integrations.providers.mailboxes.labels import FOLDER_PREFIX
from integrations.providers.mailboxes.reader import MailboxReader, draft_of

LOOKED_AT = 200  # mails in which an address or a keyword is looked for
OLDEST_FIRST = [{"property": "receivedAt", "isAscending": True}]
ADDRESSES = ("To", "Cc", "Bcc")


class JmapReader(MailboxReader):
    """Satisfies `integrations.ports.mail.MailReader`."""

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """Mails that arrived since then, oldest first. The cursor is the last mail of the page
        before; it has expired when that mail is gone."""
        mails = mails_of(self._account)
        if cursor is not None and not IS_ID.fullmatch(cursor):
            raise CursorExpired("the cursor is none of this mailbox")
        most = min(limit, mails.session.resource.at_once)
        ids = mails.query(
            filter=_read_in(mails, since),
            sort=OLDEST_FIRST,
            limit=most + 1,
            **({"anchor": cursor, "anchorOffset": 1} if cursor else {}),
        )
        _, said = mails.get(ids[:most])
        items = tuple(one.email for one in mails.read(said))
        large = {one.id: "too_large" for one in said if one.size > MAX_MESSAGE_BYTES}
        return Page(
            items=items,
            rejected=tuple(
                Rejected(source_id=id, reason=reason)
                for id, reason in sorted((large | mails.unreadable).items())
            ),
            next_cursor=ids[most - 1] if ids[most:] else None,
        )

    def email(self, email_id: str) -> Email:
        return mails_of(self._account).find(email_id).email

    def thread(self, thread_id: str) -> tuple[Email, ...]:
        """The mails of the thread, newest last."""
        mails = mails_of(self._account)
        found = [one.email for one in mails.read(mails.in_thread(thread_id))]
        return tuple(sorted(found, key=lambda one: one.date))

    def draft(self, draft_id: str) -> Draft:
        """What a draft says never changes under its id: a draft that somebody edits is another
        one. So its id is its revision too."""
        mails = mails_of(self._account)
        found = mails.find(draft_id)
        if not is_draft(mails, found.said):
            raise NotFound("it is no draft any more")
        email = found.email
        return draft_of(email, id=email.id, revision=email.id)

    def labels(self) -> tuple[Named, ...]:
        """The keywords of the newest 200 mails: JMAP has no list of them."""
        mails = mails_of(self._account)
        at_once = mails.session.resource.at_once
        ids = mails.query(sort=NEWEST_FIRST, limit=LOOKED_AT)
        found: set[str] = set()
        for start in range(0, len(ids), at_once):
            for one in mails.get(ids[start : start + at_once])[1]:
                found.update(own_words(one.words))
        return tuple(Named(id=word, name=word) for word in sorted(found))

    def folders(self) -> tuple[Folder, ...]:
        own = mails_of(self._account).mailboxes.own
        return tuple(
            Folder(id=FOLDER_PREFIX + name, name=name, kind="mail") for name in own.values()
        )

    def mailbox(self) -> Mailbox:
        """Who else reads it is what the server says of the inbox (RFC 9670). A server without that
        names nobody."""
        mails = mails_of(self._account)
        inbox = next((one for one in mails.mailboxes.said if one.role == "inbox"), None)
        return Mailbox(
            address=self._account.address,
            shared_with=tuple(sorted((inbox.share_with or {}) if inbox else ())),
            inbox=inbox.mails if inbox else None,
        )

    def correspondence(self, address: str) -> Correspondence:
        """Counts mails that name exactly this address, among the newest 200 that hold its letters:
        servers search for parts of words."""
        if not is_addr_spec(address):
            return Correspondence(address=address, received=0, sent=0)
        mails = mails_of(self._account)
        boxes = mails.mailboxes
        sent = _count_named(mails, address, ADDRESSES, {"inMailbox": boxes.by_role.get("sent", "")})
        others = boxes.ids((*NOT_READ_IN, "sent"))
        received = _count_named(mails, address, ("From",), {"inMailboxOtherThan": others})
        return Correspondence(
            address=address, received=received, sent=sent, sent_readable="sent" in boxes.by_role
        )

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        """Receivers of the newest 200 mails that were sent, as the user's own mail names them."""
        mails = mails_of(self._account)
        sent = mails.mailboxes.by_role.get("sent")
        if sent is None:
            return ()
        ids = mails.query(filter={"inMailbox": sent}, sort=NEWEST_FIRST, limit=LOOKED_AT)
        found = correspondents.list_correspondents(_sent(one) for one in mails.headers(ids))
        return tuple(found)[:limit]

    def evidence(self, key: str) -> Evidence:
        return evidence.find(self._account, key)

    def attachment(self, file_id: str) -> bytes:
        return mails_of(self._account).attachment(file_id)

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        raise NotFound("a mail server keeps no history")


def is_draft(mails: Mails, said: EmailSaid) -> bool:
    return DRAFT in said.words and mails.mailboxes.by_role.get("drafts") in said.mailboxes


def _read_in(mails: Mails, since: datetime | None) -> dict[str, Any]:
    """A filter of the mails that are read in."""
    others = mails.mailboxes.ids(NOT_READ_IN)
    return ({"inMailboxOtherThan": others} if others else {}) | (
        {"after": moment(since)} if since else {}
    )


def _count_named(mails: Mails, address: str, fields: tuple[str, ...], where: dict[str, Any]) -> int:
    """How many mails there name the address in one of these fields."""
    if not any(where.values()):
        where = {}
        if fields == ADDRESSES:
            return 0
    named = {"operator": "OR", "conditions": [{"header": [one, address]} for one in fields]}
    both = {"operator": "AND", "conditions": [named, where]} if where else named
    ids = mails.query(filter=both, sort=NEWEST_FIRST, limit=LOOKED_AT)
    wanted = address.casefold()
    return sum(
        any(wanted == (one.email or "").casefold() for one in _people(said, fields))
        for said in mails.headers(ids)
    )


def _people(said: HeadersSaid, fields: tuple[str, ...]) -> Iterator[Address]:
    by_name = {"From": said.sender, "To": said.to, "Cc": said.cc, "Bcc": said.bcc}
    for name in fields:
        yield from by_name[name] or ()


def _sent(said: HeadersSaid) -> Sent:
    people = (
        Person(name=(one.name or "")[:200], address=one.email)
        for one in _people(said, ADDRESSES)
        if one.email and is_addr_spec(one.email)
    )
    return Sent(
        people=tuple(people),
        at=said.received_at,
        is_answer=bool(said.in_reply_to or said.references or said.mark),
    )


open_reader: Callable[[AccountRef], MailReader] = JmapReader

"""Reads of one mailbox at Gmail."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

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
from integrations.exceptions import CursorExpired, NotFound, Rejected as Refused
from integrations.mail import correspondents
from integrations.mail.addresses import is_addr_spec, parse_mailboxes
from integrations.mail.compose import MARK
from integrations.mail.correspondents import Sent
from integrations.network.answers import parse
from integrations.ports.evidence import Evidence
from integrations.ports.mail import MailReader
from integrations.providers.google_mail import evidence
from integrations.providers.google_mail.answers import LabelSaid, MessageSaid
from integrations.providers.google_mail.mails import ME, Mails, mails_of
from integrations.providers.mailboxes.reader import MailboxReader, draft_of

# Drafts are not mail yet; what is junk or thrown away Gmail does not list unless it is asked to.
READ_IN = "-in:drafts -in:chats"
AT_ONCE = 25  # each is a request of its own
LOOKED_AT = 30  # mails in which an address is looked for
ADDRESSES = ("To", "Cc", "Bcc")
ANSWERS = ("In-Reply-To", "References", MARK)


class GmailReader(MailboxReader):
    """Satisfies `integrations.ports.mail.MailReader`."""

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """Mails that arrived since then, newest first."""
        mails = mails_of(self._account)
        after = f" after:{int(since.astimezone(UTC).timestamp())}" if since else ""
        try:
            listed = mails.listed(READ_IN + after, most=min(limit, AT_ONCE), page=cursor)
        except Refused as error:
            if cursor is None:
                raise
            raise CursorExpired("the cursor is none of this mailbox") from error
        items = tuple(one.email for one in mails.read(one.id for one in listed.messages))
        return Page(
            items=items,
            rejected=tuple(
                Rejected(source_id=id, reason=reason)
                for id, reason in sorted(mails.unreadable.items())
            ),
            next_cursor=listed.next_page,
        )

    def email(self, email_id: str) -> Email:
        return mails_of(self._account).find(email_id).email

    def thread(self, thread_id: str) -> tuple[Email, ...]:
        """The mails of the thread, newest last; what is junk or thrown away is none of it."""
        mails = mails_of(self._account)
        wanted = (one.id for one in mails.in_thread(thread_id) if is_read_in(one))
        return tuple(sorted((one.email for one in mails.read(wanted)), key=lambda one: one.date))

    def draft(self, draft_id: str) -> Draft:
        """A draft that somebody edits keeps its id, and its mail gets another: that is its
        revision."""
        mails = mails_of(self._account)
        said = mails.draft(draft_id)
        email = mails.find(said.message.id).email
        return draft_of(email, id=said.id, revision=said.message.id)

    def labels(self) -> tuple[Named, ...]:
        own = mails_of(self._account).own_labels
        return tuple(Named(id=id, name=name) for id, name in own.items())

    def folders(self) -> tuple[Folder, ...]:
        """Gmail has none: its labels stand for them."""
        own = mails_of(self._account).own_labels
        return tuple(Folder(id=id, name=name, kind="mail") for id, name in own.items())

    def mailbox(self) -> Mailbox:
        """Gmail tells a mailbox's user of delegates to administrators alone: it names nobody."""
        session = mails_of(self._account).session
        inbox = parse(LabelSaid, session.get(f"{ME}/labels/INBOX"))
        return Mailbox(address=self._account.address, shared_with=(), inbox=inbox.mails)

    def correspondence(self, address: str) -> Correspondence:
        """Counts mails that name exactly this address, among the newest 30 that Gmail finds."""
        if not is_addr_spec(address) or '"' in address:
            return Correspondence(address=address, received=0, sent=0)
        mails = mails_of(self._account)
        named = " ".join(f'{one.lower()}:"{address}"' for one in ADDRESSES)
        sent = _count(mails, f"in:sent {{{named}}}", address, ADDRESSES)
        received = _count(mails, f'-in:sent {READ_IN} from:"{address}"', address, ("From",))
        return Correspondence(address=address, received=received, sent=sent)

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        """Receivers of the newest 30 mails that were sent, as the user's own mail names them."""
        mails = mails_of(self._account)
        said = _headers(mails, "in:sent", *ADDRESSES, *ANSWERS)
        found = correspondents.list_correspondents(_sent(one) for one in said)
        return tuple(found)[:limit]

    def evidence(self, key: str) -> Evidence:
        return evidence.find(self._account, key)

    def attachment(self, file_id: str) -> bytes:
        return mails_of(self._account).attachment(file_id)

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        raise NotFound("Gmail's history says neither when nor by whom")


def is_read_in(said: MessageSaid) -> bool:
    return {"DRAFT", "TRASH", "SPAM", "CHAT"}.isdisjoint(said.labels)


def _headers(mails: Mails, query: str, *names: str) -> Iterator[MessageSaid]:
    for one in mails.listed(query, most=LOOKED_AT).messages:
        try:
            yield mails.get(one.id, *names)
        except NotFound:
            continue


def _count(mails: Mails, query: str, address: str, names: tuple[str, ...]) -> int:
    wanted = address.casefold()
    return sum(
        any(wanted == one.casefold() for one in _people(said, names))
        for said in _headers(mails, query, *names)
    )


def _people(said: MessageSaid, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        for value in said.headers(name):
            yield from (one.address for one in parse_mailboxes(value).accepted)


def _sent(said: MessageSaid) -> Sent:
    values = [value for name in ADDRESSES for value in said.headers(name)]
    people = [one for value in values for one in parse_mailboxes(value).accepted]
    return Sent(
        people=tuple(people),
        at=said.arrived,
        is_answer=any(said.headers(name) for name in ANSWERS),
    )


open_reader: Callable[[AccountRef], MailReader] = GmailReader

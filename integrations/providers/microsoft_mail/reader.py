"""Reads of one mailbox over Microsoft Graph."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
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
from integrations.exceptions import CursorExpired, NotFound, Rejected as Refused
from integrations.mail import correspondents
from integrations.mail.addresses import Mailbox as Person, is_addr_spec
from integrations.mail.compose import MARK
from integrations.mail.correspondents import Sent
from integrations.network.answers import parse
from integrations.ports.evidence import Evidence
from integrations.ports.mail import MailReader
from integrations.providers.mailboxes.labels import FOLDER_PREFIX
from integrations.providers.mailboxes.reader import MailboxReader, draft_of
from integrations.providers.microsoft.marks import EXPANDED
from integrations.providers.microsoft_mail import evidence
from integrations.providers.microsoft_mail.answers import Headers, HeadersSaid, Messages
from integrations.providers.microsoft_mail.mails import (
    FIELDS,
    LISTED,
    Mails,
    mails_of,
)

AT_ONCE = 25  # each is a request of its own
LOOKED_AT = 100  # mails in which an address or a category is looked for
SENT_FIELDS = "sentDateTime,toRecipients,ccRecipients,bccRecipients,internetMessageHeaders"


def moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class GraphMailReader(MailboxReader):
    """Satisfies `integrations.ports.mail.MailReader`."""

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """Mails that arrived since then, newest first. The cursor is Graph's own link."""
        mails = mails_of(self._account)
        if cursor is not None and not cursor.startswith(f"{LISTED}?"):
            raise CursorExpired("the cursor is none of this mailbox")
        wanted: dict[str, Any] = {
            "$orderby": "receivedDateTime desc",
            "$select": FIELDS,
            "$top": min(limit, AT_ONCE),
        }
        if since:
            wanted["$filter"] = f"receivedDateTime ge {moment(since)}"
        try:
            got = mails.session.get(cursor) if cursor else mails.session.get(LISTED, wanted)
        except Refused as error:
            if cursor is None:
                raise
            raise CursorExpired("Microsoft does not know the cursor any more") from error
        listed = parse(Messages, got)
        said = (one for one in listed.value if mails.is_read_in(one))
        items = tuple(one.email for one in mails.read(said))
        more = listed.next_link
        return Page(
            items=items,
            rejected=tuple(
                Rejected(source_id=id, reason=reason)
                for id, reason in sorted(mails.unreadable.items())
            ),
            next_cursor=mails.session.path_of(more) if more else None,
        )

    def email(self, email_id: str) -> Email:
        return mails_of(self._account).find(email_id).email

    def thread(self, thread_id: str) -> tuple[Email, ...]:
        """The mails of the thread, newest last; what is junk or thrown away is none of it."""
        mails = mails_of(self._account)
        wanted = (one for one in mails.in_thread(thread_id) if mails.is_read_in(one))
        return tuple(sorted((one.email for one in mails.read(wanted)), key=lambda one: one.date))

    def draft(self, draft_id: str) -> Draft:
        mails = mails_of(self._account)
        found = mails.find(draft_id)
        if not found.said.is_draft or found.said.folder != mails.roles["drafts"]:
            raise NotFound("it is no draft any more")
        # The mail as it goes out does not name them.
        email = found.email.model_copy(update={"bcc": mails.blind_copies(draft_id)})
        return draft_of(email, id=draft_id, revision=found.said.version)

    def labels(self) -> tuple[Named, ...]:
        """The categories of the newest 100 mails: their list is another consent."""
        wanted: dict[str, Any] = {"$select": FIELDS, "$top": LOOKED_AT}
        got = parse(Messages, mails_of(self._account).session.get(LISTED, wanted))
        words = sorted({word for one in got.value for word in one.words})
        return tuple(Named(id=word, name=word) for word in words)

    def folders(self) -> tuple[Folder, ...]:
        own = mails_of(self._account).folders.own
        return tuple(
            Folder(id=FOLDER_PREFIX + name, name=name, kind="mail") for name in own.values()
        )

    def mailbox(self) -> Mailbox:
        """Who else reads it Graph tells no user: it names nobody."""
        folders = mails_of(self._account).folders
        inbox = next((one.mails for one in folders.said if one.role == "inbox"), None)
        return Mailbox(address=self._account.address, shared_with=(), inbox=inbox)

    def correspondence(self, address: str) -> Correspondence:
        """Counts mails that name exactly this address: from it, the first 100, and to it among the
        newest 100 that were sent."""
        if not is_addr_spec(address) or "'" in address:
            return Correspondence(address=address, received=0, sent=0)
        mails = mails_of(self._account)
        wanted: dict[str, Any] = {
            "$filter": f"from/emailAddress/address eq '{address}'",
            "$select": FIELDS,
            "$top": LOOKED_AT,
        }
        got = parse(Messages, mails.session.get(LISTED, wanted)).value
        received = [
            one for one in got if mails.is_read_in(one) and one.folder != mails.roles["sent"]
        ]
        sent = [one for one in _sent_mails(mails) if address.casefold() in set(_addresses(one))]
        return Correspondence(address=address, received=len(received), sent=len(sent))

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        """Receivers of the newest 100 mails that were sent."""
        said = _sent_mails(mails_of(self._account))
        return tuple(correspondents.list_correspondents(_sent(one) for one in said))[:limit]

    def evidence(self, key: str) -> Evidence:
        return evidence.find(self._account, key)

    def attachment(self, file_id: str) -> bytes:
        return mails_of(self._account).attachment(file_id)

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        raise NotFound("Microsoft tells neither when nor by whom a mail was changed")


def _sent_mails(mails: Mails) -> tuple[HeadersSaid, ...]:
    wanted: dict[str, Any] = {
        "$orderby": "receivedDateTime desc",
        "$select": SENT_FIELDS,
        "$expand": EXPANDED,
        "$top": LOOKED_AT,
    }
    return parse(Headers, mails.session.get("/me/mailFolders/sentitems/messages", wanted)).value


def _people(said: HeadersSaid) -> Iterator[Person]:
    for one in (*said.to, *said.cc, *said.bcc):
        address = one.mail.address or ""
        if is_addr_spec(address):
            yield Person(name=(one.mail.name or "")[:200], address=address)


def _addresses(said: HeadersSaid) -> Iterator[str]:
    return (one.address.casefold() for one in _people(said))


def _sent(said: HeadersSaid) -> Sent:
    names = {one.name.casefold() for one in said.headers}
    is_answer = bool(said.marks or names & {"in-reply-to", "references", MARK.casefold()})
    return Sent(people=tuple(_people(said)), at=said.sent_at, is_answer=is_answer)


open_reader: Callable[[AccountRef], MailReader] = GraphMailReader

"""Reads of one mailbox over IMAP."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import IO, Any

from integrations.contracts import (
    AccountRef,
    AnyItem,
    Change,
    Colleague,
    Email,
    Folder,
    Mailbox,
    Named,
    Page,
    Rejected,
)
from integrations.contracts.outgoing import Draft
from integrations.contracts.people import Correspondence, Correspondent
from integrations.exceptions import CursorExpired, NotFound, TooLarge
from integrations.mail import correspondents
from integrations.mail.addresses import Mailbox as Person, is_addr_spec, parse_mailboxes
from integrations.mail.compose import MARK
from integrations.mail.correspondents import Sent
from integrations.mail.mail import MAX_MESSAGE_BYTES
from integrations.ports.evidence import Evidence
from integrations.ports.mail import MailReader
from integrations.providers.imap import evidence
from integrations.providers.imap.connection import connection
from integrations.providers.imap.mails import Mails, aware
from integrations.providers.mailboxes.labels import FOLDER_PREFIX, SYSTEM_LABELS

LOOKED_AT = 200  # mails in which an address is looked for
ADDRESSES = ("TO", "CC", "BCC")
# A mail with one of these is an answer, or the agent's: programs copied the names in it.
ANSWERS = ("IN-REPLY-TO", "REFERENCES", MARK.upper())


@contextmanager
def mailbox_of(account: AccountRef) -> Iterator[Mails]:
    with connection(account) as own:
        yield Mails(account, own)


class ImapReader:
    """Satisfies `integrations.ports.mail.MailReader`."""

    def __init__(self, account: AccountRef) -> None:
        self._account = account

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """Mails that arrived since that day, folder by folder, each oldest first. The cursor names
        a folder, its numbering and the last number; it has expired when the folder is numbered
        anew or gone."""
        with mailbox_of(self._account) as mails:
            names = mails.read_in()
            folder, validity, last = _place(cursor) if cursor else (names[0], 0, 0)
            if folder not in names:
                raise CursorExpired("the folder is gone")
            for name in names[names.index(folder) :]:
                page = _listed(mails, name, since=since, validity=validity, last=last, limit=limit)
                if page.items or page.rejected:
                    break
                validity = last = 0
            if page.next_cursor is None and name != names[-1]:
                following = names[names.index(name) + 1]
                return replace(page, next_cursor=f"0 0 {following}")
            return page

    def items_in_window(self, *, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
        return self.items(since=since, cursor=cursor, limit=limit)

    def item(self, item_id: str) -> AnyItem:
        return self.email(item_id)

    def email(self, email_id: str) -> Email:
        with mailbox_of(self._account) as mails:
            return mails.find(email_id).email

    def thread(self, thread_id: str) -> tuple[Email, ...]:
        """The mails of the thread that Remit has seen, newest last."""
        with mailbox_of(self._account) as mails:
            found = [one.email for one in mails.in_thread(thread_id)]
        return tuple(sorted(found, key=lambda one: one.date))

    def draft(self, draft_id: str) -> Draft:
        """A draft that somebody edits is another one: its id, made from its bytes, is its
        revision too."""
        with mailbox_of(self._account) as mails:
            found = mails.find(draft_id)
        email = found.email
        if "DRAFT" not in email.labels or "TRASH" in email.labels:
            raise NotFound("it is no draft any more")
        return Draft(
            id=email.id,
            revision=email.id,
            thread_id=email.thread_id,
            to=email.to,
            cc=email.cc,
            bcc=email.bcc,
            subject=email.subject,
            body=email.body_text,
        )

    def labels(self) -> tuple[Named, ...]:
        """The keywords in use, where the server keeps keywords. At Gmail the labels, which are its
        folders too."""
        with mailbox_of(self._account) as mails:
            if mails.own.has_labels:
                return tuple(Named(id=name, name=name) for name in mails.folders.own)
            inbox = mails.folders.named("inbox") or "INBOX"
            found = _words(mails.own.select(inbox).get(b"FLAGS", ()))
            return tuple(Named(id=word, name=word) for word in found)

    def folders(self) -> tuple[Folder, ...]:
        with mailbox_of(self._account) as mails:
            before = "" if mails.own.has_labels else FOLDER_PREFIX
            return tuple(
                Folder(id=before + name, name=name, kind="mail") for name in mails.folders.own
            )

    def mailbox(self) -> Mailbox:
        """Who else reads it is what the server's access list of the inbox says (RFC 4314). A
        server without such lists has nobody to share a mailbox with."""
        with mailbox_of(self._account) as mails:
            inbox = mails.folders.named("inbox") or "INBOX"
            client = mails.own.client
            others: list[str] = []
            if client.has_capability("ACL"):
                own = mails.own.sign_in.user_name.casefold()
                for name, rights in client.getacl(inbox):
                    who = _text(name)
                    if "r" in _text(rights) and who.casefold() != own and who != "owner":
                        others.append(who)
            count = client.folder_status(inbox, [b"MESSAGES"]).get(b"MESSAGES")
        return Mailbox(
            address=self._account.address,
            shared_with=tuple(others),
            inbox=count if isinstance(count, int) else None,
        )

    def correspondence(self, address: str) -> Correspondence:
        """Counts mails that name exactly this address, among the newest 200 that hold its letters:
        servers search for parts of words."""
        if not is_addr_spec(address):
            return Correspondence(address=address, received=0, sent=0)
        with mailbox_of(self._account) as mails:
            own = mails.folders.named("sent")
            sent = _count_named(mails, own, address, ADDRESSES) if own else 0
            received = sum(
                _count_named(mails, folder, address, ("FROM",))
                for folder in mails.read_in()
                if folder != own
            )
        return Correspondence(
            address=address, received=received, sent=sent, sent_readable=own is not None
        )

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        """Receivers of the newest 200 mails that were sent, as the user's own mail names them."""
        with mailbox_of(self._account) as mails:
            sent = mails.folders.named("sent")
            if sent is None:
                return ()
            uids = mails.search(sent)[-LOOKED_AT:]
            wanted = [_header_fields((*ADDRESSES, *ANSWERS)), b"INTERNALDATE"]
            found = mails.own.client.fetch(uids, wanted) if uids else {}
        return tuple(list_correspondents(found[uid] for uid in sorted(found, reverse=True)))[:limit]

    def directory(self, *, cursor: str | None, limit: int) -> Page[Colleague]:
        raise NotFound("a mail server knows no colleagues")

    def evidence(self, key: str) -> Evidence:
        return evidence.find(self._account, key)

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        with mailbox_of(self._account) as mails:
            content = mails.attachment(file_id)
        if len(content) > most_bytes:
            raise TooLarge("the attachment is too large")
        into.write(content)

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        raise NotFound("a mail server keeps no history")


def _listed(
    mails: Mails, folder: str, *, since: datetime | None, validity: int, last: int, limit: int
) -> Page[AnyItem]:
    """The next mails of one folder."""
    mails.own.select(folder)
    present = mails.own.validity()
    if validity and validity != present:
        raise CursorExpired("the folder is numbered anew")
    uids = mails.search(folder, *(["SINCE", since.date()] if since else []), after=last)
    heads = mails.heads_read_in(folder, uids[:limit])
    items = tuple(one.email for one in mails.read(folder, heads))
    large = {head.uid: "too_large" for head in heads if head.size > MAX_MESSAGE_BYTES}
    return Page(
        items=items,
        rejected=tuple(
            Rejected(source_id=f"{folder[:400]} UID {uid}", reason=reason)
            for uid, reason in sorted((large | mails.unreadable).items())
        ),
        next_cursor=f"{present} {uids[limit - 1]} {folder}" if uids[limit:] else None,
    )


def _place(cursor: str) -> tuple[str, int, int]:
    parts = cursor.split(" ", 2)
    if len(parts) != 3 or not (parts[0].isdecimal() and parts[1].isdecimal()):
        raise CursorExpired("the cursor is none of this mailbox")
    return parts[2], int(parts[0]), int(parts[1])


def _count_named(mails: Mails, folder: str, address: str, fields: tuple[str, ...]) -> int:
    """How many mails in a folder name the address in one of these fields."""
    uids: set[int] = set()
    for one in fields:
        uids.update(mails.search(folder, one, address))
    newest = sorted(uids)[-LOOKED_AT:]
    if not newest:
        return 0
    answers = mails.own.client.fetch(newest, [_header_fields(fields)]).values()
    named = [{one.address.casefold() for one in _people(answer)} for answer in answers]
    return sum(address.casefold() in addresses for addresses in named)


def _header_fields(fields: tuple[str, ...]) -> bytes:
    return f"BODY.PEEK[HEADER.FIELDS ({' '.join(fields)})]".encode()


def _headers(answer: Mapping[bytes, Any]) -> list[tuple[str, str]]:
    """The names, in capitals, and values of the header fields that were fetched."""
    raw = next((value for key, value in answer.items() if key.startswith(b"BODY[HEADER")), b"")
    parts = [line.partition(":") for line in _unfolded(raw)]
    return [(name.strip().upper(), value) for name, _, value in parts]


def _people(answer: Mapping[bytes, Any]) -> list[Person]:
    """Whom the address fields that were fetched name."""
    values = [value for name, value in _headers(answer) if name not in ANSWERS]
    return [one for value in values for one in parse_mailboxes(value).accepted]


def list_correspondents(answers: Iterable[Mapping[bytes, Any]]) -> Iterator[Correspondent]:
    """From the headers of sent mail, the newest first: each address once."""
    return correspondents.list_correspondents(
        Sent(
            people=tuple(_people(answer)),
            at=aware(answer.get(b"INTERNALDATE")),
            is_answer=any(name in ANSWERS for name, _ in _headers(answer)),
        )
        for answer in answers
    )


def _unfolded(raw: Any) -> list[str]:
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else ""
    lines: list[str] = []
    for line in text.splitlines():
        if line[:1] in (" ", "\t") and lines:
            lines[-1] += line
        elif line:
            lines.append(line)
    return lines


def _words(flags: Any) -> list[str]:
    words = sorted(_text(flag) for flag in flags)
    return [
        word
        for word in words
        if word[:1] not in ("\\", "$") and word.upper() not in SYSTEM_LABELS and word.isprintable()
    ]


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


open_reader: Callable[[AccountRef], MailReader] = ImapReader

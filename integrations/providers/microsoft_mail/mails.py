"""Mails as Microsoft Graph keeps them: each under one id wherever it lies, read whole from its
bytes as all mail is (`integrations.imports.reading`)."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from integrations.child import Unreadable
from integrations.contracts import AccountRef, Email
from integrations.exceptions import NotFound, TooLarge
from integrations.imports import reading
from integrations.mail.mail import MAX_MESSAGE_BYTES
from integrations.network.answers import parse
from integrations.providers.jmap.mailboxes import NOT_READ_IN, Mailboxes
from integrations.providers.mailboxes import attachments
from integrations.providers.mailboxes.labels import STARRED, SYSTEM_LABELS, UNREAD
from integrations.providers.mailboxes.mails import kept_mail
from integrations.providers.microsoft import marks
from integrations.providers.microsoft.session import GraphSession, session_of
from integrations.providers.microsoft_mail.answers import (
    Folders,
    FolderSaid,
    HeadersSaid,
    Messages,
    MessageSaid,
)

log = logging.getLogger(__name__)
IS_ID = re.compile(r"[A-Za-z0-9_=-]{1,512}")
IS_THREAD = re.compile(r"[A-Za-z0-9_=+/-]{1,512}")
FIELDS = (
    "conversationId,parentFolderId,categories,flag,isRead,isDraft,receivedDateTime,changeKey,"
    "subject"
)
LISTED = "/me/messages"
# What Graph calls each folder that has a role.
ROLES = {
    "inbox": "inbox",
    "drafts": "drafts",
    "sent": "sentitems",
    "trash": "deleteditems",
    "junk": "junkemail",
    "archive": "archive",
}
MOST_FOLDERS = 300
THREAD_MAILS = 50
AT_ONCE = 100


@dataclass(frozen=True, kw_only=True)
class Found:
    """A mail as it is now."""

    said: MessageSaid
    raw: bytes
    email: Email


class Mails:
    """The mails of one account. `roles`: ids of folders, which never change, by role."""

    def __init__(self, account: AccountRef, session: GraphSession, roles: dict[str, str]) -> None:
        self.account, self.session, self.roles = account, session, roles
        self.unreadable: dict[str, str] = {}
        """What `read` left out last because nobody could read it: id and reason."""

    @cached_property
    def folders(self) -> Mailboxes[FolderSaid]:
        roles = {id: role for role, id in self.roles.items()}
        found: list[FolderSaid] = []
        paths = ["/me/mailFolders"]
        while paths and len(found) < MOST_FOLDERS:
            for one in self._listed(paths.pop()):
                found.append(one.model_copy(update={"role": roles.get(one.id)}))
                if one.folders:
                    paths.append(f"/me/mailFolders/{_id(one.id)}/childFolders")
        return Mailboxes(found)

    def _listed(self, path: str) -> Iterator[FolderSaid]:
        got = parse(Folders, self.session.get(path, {"$top": AT_ONCE}))
        yield from got.value
        while got.next_link:
            got = parse(Folders, self.session.get(self.session.path_of(got.next_link)))
            yield from got.value

    def is_read_in(self, said: MessageSaid) -> bool:
        """Drafts are not mail yet, and what is junk or thrown away is not to be learnt from."""
        others = {self.roles.get(role) for role in NOT_READ_IN}
        return not said.is_draft and said.folder not in others

    def get(self, email_id: str) -> MessageSaid:
        """Raises NotFound."""
        got = self.session.get(f"{LISTED}/{_id(email_id)}", {"$select": FIELDS})
        return parse(MessageSaid, got)

    def find(self, email_id: str) -> Found:
        """Raises NotFound."""
        for found in self.read([self.get(email_id)]):
            return found
        raise NotFound("no such mail")

    def read(self, said: Iterable[MessageSaid]) -> Iterator[Found]:
        """The mails whole. One that went meanwhile is left out, and so is one that is too large or
        cannot be read."""
        self.unreadable = {}
        for one in said:
            try:
                yield self._found(one)
            except NotFound:
                continue
            except TooLarge:
                self.unreadable[one.id] = "too_large"
            except Unreadable as error:
                self.unreadable[one.id] = error.reason
                unread = {"account": str(self.account.id), "code": error.reason}
                log.warning("mailbox.mail_not_read", extra=unread)

    def in_thread(self, thread_id: str) -> tuple[MessageSaid, ...]:
        """50 of its mails at most. Raises NotFound."""
        if not IS_THREAD.fullmatch(thread_id):
            raise NotFound("no such thread")
        wanted: dict[str, Any] = {
            "$filter": f"conversationId eq '{thread_id}'",
            "$select": FIELDS,
            "$top": THREAD_MAILS,
        }
        found = parse(Messages, self.session.get(LISTED, wanted)).value
        if not found:
            raise NotFound("no such thread")
        return found

    def marked(self, role: str, key: str) -> tuple[MessageSaid, ...]:
        """What the write with this key made, in the folder with this role."""
        return self._among(role, marks.having(key))

    def sent_from(self, draft_id: str, *, key: str, message_id: str) -> MessageSaid | None:
        """The mail that went out from a draft. Some keep its id, others get another."""
        try:
            if not (said := self.get(draft_id)).is_draft:
                return said
        except NotFound:
            pass
        found = self.marked("sent", key)
        found = found or self._among("sent", f"internetMessageId eq '{marks.quoted(message_id)}'")
        return found[0] if found else None

    def _among(self, role: str, wanted: str) -> tuple[MessageSaid, ...]:
        path = f"/me/mailFolders/{_id(self.roles[role])}/messages"
        got = self.session.get(path, {"$filter": wanted, "$select": FIELDS})
        return parse(Messages, got).value

    def blind_copies(self, draft_id: str) -> tuple[str, ...]:
        """Whom a draft names so. Raises NotFound."""
        wanted = {"$select": "sentDateTime,bccRecipients"}
        said = parse(HeadersSaid, self.session.get(f"{LISTED}/{_id(draft_id)}", wanted))
        return tuple(one.mail.address for one in said.bcc if one.mail.address)

    def change(self, said: MessageSaid, fields: Mapping[str, Any]) -> None:
        """In this version alone. Raises Changed."""
        self.session.send("PATCH", f"{LISTED}/{_id(said.id)}", fields, etag=said.etag)

    def move(self, said: MessageSaid, folder: str) -> None:
        """Out of the folder where it was seen. Raises NotFound where it lies there no more."""
        self.session.send("POST", f"{_place(said)}/move", {"destinationId": folder})

    def delete_for_good(self, said: MessageSaid) -> None:
        """From the folder where it was seen. Raises NotFound where it lies there no more."""
        self.session.send("POST", f"{_place(said)}/permanentDelete")

    def labels(self, said: MessageSaid) -> tuple[str, ...]:
        """Where it lies, read or not, and its categories. A category that is called like a label of
        Remit's is none."""
        return (
            *self.folders.places([said.folder]),
            *([] if said.is_read else [UNREAD]),
            *([STARRED] if said.flag and said.flag.status == "flagged" else []),
            *sorted(one for one in set(said.words) if one.upper() not in SYSTEM_LABELS),
        )

    def _found(self, said: MessageSaid) -> Found:
        path = f"{LISTED}/{_id(said.id)}/$value"
        raw = self.session.download(path, {}, most_bytes=MAX_MESSAGE_BYTES)
        # Exchange names no server in its findings about senders, so nobody's are believed.
        read = reading.read_mail(raw, fallback_date=said.received_at)
        labels = self.labels(said)
        email = kept_mail(read, id=said.id, thread_id=said.thread_id, labels=labels)
        return Found(said=said, raw=raw, email=email)

    def attachment(self, file_id: str) -> bytes:
        """The bytes of an attachment. Raises NotFound."""
        wanted, number = attachments.split(file_id)
        found = self.find(wanted)
        return attachments.contents(found.raw, number=number, arrived=found.said.received_at)


def mails_of(account: AccountRef) -> Mails:
    """Raises NotPermitted where the account is not connected, or signed in no more."""
    session, servers = session_of(account)
    return Mails(account, session, dict(servers["folders"]))


def _place(said: MessageSaid) -> str:
    return f"/me/mailFolders/{_id(said.folder)}/messages/{_id(said.id)}"


def _id(text: str) -> str:
    if not IS_ID.fullmatch(text):
        raise NotFound("no such mail")
    return text

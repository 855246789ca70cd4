"""Mails as a JMAP server keeps them: each under one id wherever it lies, read whole from its blob.

Their bytes are read as those of every mail are (`integrations.imports.reading`); what the server
itself makes of them counts for where they lie and how they are marked alone.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from integrations.child import Unreadable
from integrations.contracts import AccountRef, Email
from integrations.exceptions import NotFound
from integrations.imports import reading
from integrations.mail import mail
from integrations.providers.jmap.answers import (
    EMAIL_FIELDS,
    HEADER_FIELDS,
    Call,
    EmailSaid,
    EmailsGot,
    HeadersGot,
    HeadersSaid,
    MailboxesGot,
    MailboxSaid,
    NamesGot,
    Queried,
    StateGot,
    ThreadsGot,
)
from integrations.providers.jmap.mailboxes import Mailboxes
from integrations.providers.jmap.session import JmapSession, session_of
from integrations.providers.mailboxes import attachments
from integrations.providers.mailboxes.mails import kept_mail

log = logging.getLogger(__name__)
THREAD_MAILS = 50
IS_ID = re.compile(r"[A-Za-z0-9_-]{1,255}")  # RFC 8620, 1.2
NEWEST_FIRST = [{"property": "receivedAt", "isAscending": False}]


@dataclass(frozen=True, kw_only=True)
class Found:
    """A mail as it is now."""

    said: EmailSaid
    raw: bytes
    email: Email


class Mails:
    """The mails of one account."""

    def __init__(self, account: AccountRef, session: JmapSession) -> None:
        self.account, self.session = account, session
        self.unreadable: dict[str, str] = {}
        """What `read` left out last because nobody could read it: id and reason."""

    @cached_property
    def mailboxes(self) -> Mailboxes[MailboxSaid]:
        got = self.session.ask(("Mailbox/get", {"ids": None})).to(0, MailboxesGot)
        return Mailboxes(got.list)

    def get(self, ids: Sequence[str]) -> tuple[str, tuple[EmailSaid, ...]]:
        """The present state, and those of them that are there. No more at once than the server
        takes."""
        wanted = [id for id in ids if IS_ID.fullmatch(id)]
        said = {"ids": wanted, "properties": EMAIL_FIELDS}
        got = self.session.ask(("Email/get", said)).to(0, EmailsGot)
        by_id = {one.id: one for one in got.list}
        return got.state, tuple(by_id[id] for id in ids if id in by_id)

    def state(self) -> str:
        return self.get(())[0]

    def query(self, **wanted: Any) -> tuple[str, ...]:
        return self.session.ask(("Email/query", wanted)).to(0, Queried).ids

    def headers(self, ids: Sequence[str]) -> Iterator[HeadersSaid]:
        at_once = self.session.resource.at_once
        for start in range(0, len(ids), at_once):
            said = {"ids": list(ids[start : start + at_once]), "properties": HEADER_FIELDS}
            by_id = {
                one.id: one for one in self.session.ask(("Email/get", said)).to(0, HeadersGot).list
            }
            yield from (by_id[id] for id in ids[start : start + at_once] if id in by_id)

    def read(self, said: Iterable[EmailSaid]) -> Iterator[Found]:
        """The mails whole. One that went meanwhile is left out, and so is one that is too large or
        cannot be read."""
        self.unreadable = {}
        for one in said:
            if one.size <= mail.MAX_MESSAGE_BYTES:
                try:
                    yield self._found(one)
                except NotFound:
                    continue
                except Unreadable as error:
                    self.unreadable[one.id] = error.reason
                    unread = {"account": str(self.account.id), "code": error.reason}
                    log.warning("mailbox.mail_not_read", extra=unread)

    def find(self, email_id: str) -> Found:
        """Raises NotFound."""
        return self.find_at(email_id)[1]

    def find_at(self, email_id: str) -> tuple[str, Found]:
        """The same, with the state that it was found in."""
        state, said = self.get([email_id])
        for found in self.read(said):
            return state, found
        raise NotFound("no such mail")

    def in_thread(self, thread_id: str) -> tuple[EmailSaid, ...]:
        """Its newest mails. Raises NotFound."""
        if not IS_ID.fullmatch(thread_id):
            raise NotFound("no such thread")
        got = self.session.ask(("Thread/get", {"ids": [thread_id]})).to(0, ThreadsGot)
        if not got.list:
            raise NotFound("no such thread")
        newest = got.list[0].emails[-THREAD_MAILS:]
        return self.get(newest[-self.session.resource.at_once :])[1]

    def written(self, message_id: str) -> tuple[str, tuple[EmailSaid, ...]]:
        """The present state, and the mails with exactly this Message-ID."""
        bare = message_id.strip("<>")
        calls: tuple[Call, ...] = (
            ("Email/get", {"ids": [], "properties": ["id"]}),
            ("Email/query", {"filter": {"header": ["Message-ID", bare]}, "limit": 10}),
            ("Email/get", {"#ids": _ids(1), "properties": ["id", "messageId"]}),
            ("Email/get", {"#ids": _ids(1), "properties": EMAIL_FIELDS}),
        )
        answers = self.session.ask(*calls)
        state = answers.to(0, StateGot).state
        exact = {one.id for one in answers.to(2, NamesGot).list if bare in (one.names or ())}
        return state, tuple(one for one in answers.to(3, EmailsGot).list if one.id in exact)

    def _found(self, said: EmailSaid) -> Found:
        raw = self.session.download(said.blob_id)
        read = reading.read_mail(
            raw,
            fallback_date=said.received_at,
            trusted_server=self.session.server.checks_as or None,
        )
        labels = self.mailboxes.labels(said)
        email = kept_mail(read, id=said.id, thread_id=said.thread_id, labels=labels)
        return Found(said=said, raw=raw, email=email)

    def attachment(self, file_id: str) -> bytes:
        """The bytes of an attachment. Raises NotFound."""
        wanted, number = attachments.split(file_id)
        found = self.find(wanted)
        return attachments.contents(found.raw, number=number, arrived=found.said.received_at)


def mails_of(account: AccountRef) -> Mails:
    """Raises NotPermitted where the account is not connected, or signed in no more."""
    return Mails(account, session_of(account))


def _ids(place: int) -> dict[str, str]:
    return {"resultOf": str(place), "name": "Email/query", "path": "/ids"}

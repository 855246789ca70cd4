"""Mails as Gmail keeps them: each under one id wherever it lies, read whole from its bytes as all
mail is (`integrations.imports.reading`)."""

import base64
import binascii
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from integrations.child import Unreadable
from integrations.contracts import AccountRef, Email
from integrations.exceptions import Malformed, NotFound, TooLarge
from integrations.imports import reading
from integrations.mail.compose import MARK
from integrations.network.answers import parse
from integrations.providers.google.session import GoogleSession, session_of
from integrations.providers.google_mail import labels
from integrations.providers.google_mail.answers import (
    Drafts,
    DraftSaid,
    Labels,
    Messages,
    MessageSaid,
    ThreadSaid,
)
from integrations.providers.mailboxes import attachments
from integrations.providers.mailboxes.mails import kept_mail
from integrations.providers.signed_in.session import Params

log = logging.getLogger(__name__)
ME = "/users/me"
IS_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Whose findings about senders count: Gmail's own server writes them down under this name.
CHECKS_AS = "mx.google.com"
THREAD_MAILS = 50
DRAFTS_LOOKED_AT = 20


@dataclass(frozen=True, kw_only=True)
class Found:
    """A mail as it is now."""

    said: MessageSaid
    raw: bytes
    email: Email


class Mails:
    """The mails of one account."""

    def __init__(self, account: AccountRef, session: GoogleSession) -> None:
        self.account, self.session = account, session
        self.unreadable: dict[str, str] = {}
        """What `read` left out last because nobody could read it: id and reason."""

    @cached_property
    def own_labels(self) -> dict[str, str]:
        return labels.own(parse(Labels, self.session.get(f"{ME}/labels")).labels)

    def listed(self, query: str, *, most: int, page: str | None = None) -> Messages:
        """Ids of mails, newest first."""
        wanted: dict[str, Any] = {"q": query, "maxResults": most}
        more = {"pageToken": page} if page else {}
        return parse(Messages, self.session.get(f"{ME}/messages", {**wanted, **more}))

    def get(self, email_id: str, *headers: str) -> MessageSaid:
        """Where it lies and how it is marked, with these headers. Raises NotFound."""
        path = f"{ME}/messages/{_id(email_id)}"
        if not headers:
            return parse(MessageSaid, self.session.get(path, {"format": "minimal"}))
        wanted: Params = {"format": "metadata", "metadataHeaders": list(headers)}
        return parse(MessageSaid, self.session.get(path, wanted))

    def find(self, email_id: str) -> Found:
        """Raises NotFound."""
        for found in self.read([email_id]):
            return found
        raise NotFound("no such mail")

    def read(self, ids: Iterable[str]) -> Iterator[Found]:
        """The mails whole. One that went meanwhile is left out, and so is one that is too large or
        cannot be read."""
        self.unreadable = {}
        for id in ids:
            try:
                yield self._found(id)
            except NotFound:
                continue
            except TooLarge:
                self.unreadable[id] = "too_large"
            except Unreadable as error:
                self.unreadable[id] = error.reason
                unread = {"account": str(self.account.id), "code": error.reason}
                log.warning("mailbox.mail_not_read", extra=unread)

    def in_thread(self, thread_id: str, *headers: str) -> Sequence[MessageSaid]:
        """Its newest mails. Raises NotFound."""
        wanted: dict[str, Any] = {"format": "metadata" if headers else "minimal"}
        if headers:
            wanted["metadataHeaders"] = list(headers)
        found = self.session.get(f"{ME}/threads/{_id(thread_id)}", wanted)
        return parse(ThreadSaid, found).messages[-THREAD_MAILS:]

    def draft(self, draft_id: str) -> DraftSaid:
        """Raises NotFound."""
        path = f"{ME}/drafts/{_id(draft_id)}"
        return parse(DraftSaid, self.session.get(path, {"format": "minimal"}))

    def drafts_of(self, key: str) -> Iterator[DraftSaid]:
        """Drafts with the mark of this key, among the newest 20."""
        listed = self.session.get(f"{ME}/drafts", {"maxResults": DRAFTS_LOOKED_AT})
        for one in parse(Drafts, listed).drafts:
            try:
                said = self.get(one.message.id, MARK)
            except NotFound:
                continue
            if key in said.headers(MARK):
                yield DraftSaid(id=one.id, message=said)

    def sent_in(self, thread_id: str, key: str) -> MessageSaid | None:
        """The mail with the mark of this key that went out."""
        try:
            found = self.in_thread(thread_id, MARK)
        except NotFound:
            return None
        return next(
            (one for one in found if "SENT" in one.labels and key in one.headers(MARK)), None
        )

    def _found(self, email_id: str) -> Found:
        path = f"{ME}/messages/{_id(email_id)}"
        said = parse(MessageSaid, self.session.get(path, {"format": "raw"}))
        raw = _bytes(said.raw)
        read = reading.read_mail(raw, fallback_date=said.arrived, trusted_server=CHECKS_AS)
        visible = labels.visible(said.labels, self.own_labels)
        email = kept_mail(read, id=said.id, thread_id=said.thread_id, labels=visible)
        return Found(said=said, raw=raw, email=email)

    def attachment(self, file_id: str) -> bytes:
        """The bytes of an attachment. Raises NotFound."""
        wanted, number = attachments.split(file_id)
        found = self.find(wanted)
        return attachments.contents(found.raw, number=number, arrived=found.said.arrived)


def mails_of(account: AccountRef) -> Mails:
    """Raises NotPermitted where the account is not connected, or signed in no more."""
    return Mails(account, session_of(account))


def _id(text: str) -> str:
    if not IS_ID.fullmatch(text):
        raise NotFound("no such mail")
    return text


def _bytes(raw: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4))
    except (binascii.Error, ValueError) as error:
        raise Malformed("a mail that is not base64") from error

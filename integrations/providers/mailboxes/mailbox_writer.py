"""Writes that are the same for every mailbox of somebody's own, whatever its server speaks.

Such a server knows no idempotency keys. So each write is a row (`MailWrite`) that says how far it
came, committed before each step that others can see.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from email.message import EmailMessage
from typing import Any, Generic, Protocol, TypeVar

from django.utils import timezone

from integrations.contracts import Email
from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Rejected
from integrations.mail import compose
from integrations.models import MailWrite
from integrations.providers.account_writer import AccountWriter
from integrations.providers.mailboxes import progress
from integrations.providers.mailboxes.labels import UNREAD

Answer = dict[str, Any]


class Found(Protocol):
    @property
    def raw(self) -> bytes: ...
    @property
    def email(self) -> Email: ...


class Mails(Protocol):
    def find(self, email_id: str) -> Found: ...


M = TypeVar("M", bound=Mails)


class MailboxWriter(AccountWriter, ABC, Generic[M]):
    """The part of `integrations.ports.mail.MailWriter` that needs no server's language."""

    def archive(self, email_id: str, *, key: str) -> Answer:
        return self._change("archive", email_id, add=(), remove=("INBOX",), key=key)

    def trash_email(self, email_id: str, *, key: str) -> Answer:
        return self._change("trash_email", email_id, add=("TRASH",), remove=("INBOX",), key=key)

    def mark_read(self, email_id: str, *, key: str) -> Answer:
        return self._change("mark_read", email_id, add=(), remove=(UNREAD,), key=key)

    def change_labels(
        self,
        email_id: str,
        *,
        add: Sequence[str],
        remove: Sequence[str],
        thread_remove: Sequence[str] = (),
        key: str,
    ) -> Answer:
        return self._change(
            "change_labels", email_id, add=add, remove=remove, thread_remove=thread_remove, key=key
        )

    def send_email(self, mail: OutgoingMail, *, key: str) -> Answer:
        def written(mails: M) -> EmailMessage:
            return self._composed(mails, mail, key)

        return self._sent("send_email", mail, key, written)

    def forward_email(self, email_id: str, mail: OutgoingMail, *, key: str) -> Answer:
        def written(mails: M) -> EmailMessage:
            return compose.compose(
                self._account,
                mail,
                key=key,
                at=timezone.now(),
                sent_on=_answered(mails.find(email_id)),
            )

        return self._sent("forward_email", mail, key, written)

    def recall_email(self, email_id: str, *, submission_id: str, key: str) -> Answer:
        raise Rejected("this server holds no mail back")

    @abstractmethod
    def _mails(self) -> AbstractContextManager[M]:
        """The mailbox, for one write."""

    @abstractmethod
    def _change(
        self,
        operation: str,
        email_id: str,
        *,
        add: Sequence[str],
        remove: Sequence[str],
        thread_remove: Sequence[str] = (),
        key: str,
    ) -> Answer:
        """Labels and folders of one mail, and of the others of its thread."""

    @abstractmethod
    def _sent(
        self, operation: str, mail: OutgoingMail, key: str, written: Callable[[M], EmailMessage]
    ) -> Answer:
        """The mail goes out, once."""

    def _written(
        self, operation: str, key: str, write: Callable[[M, MailWrite], Answer], **about: Any
    ) -> Answer:
        """Once: what is done under this key already is not done again."""
        row = progress.begin(self._account.id, key, operation, **about)
        if row.state == progress.DONE:
            return dict(row.answer)
        with self._mails() as mails:
            answer = write(mails, row)
        progress.finish(row, answer)
        return answer

    def _composed(self, mails: M, mail: OutgoingMail, key: str) -> EmailMessage:
        answered = _answered(mails.find(mail.reply_to_id)) if mail.reply_to_id else None
        return compose.compose(self._account, mail, key=key, at=timezone.now(), answered=answered)


def _answered(found: Found) -> compose.Answered:
    return compose.answered(found.raw, found.email)

"""Writes to one mailbox at Gmail, and mail out of it. Only `integrations.accounts.writes` may
import this module.

Gmail knows no idempotency keys. So each write is a row (`MailWrite`), committed before each step
that others can see. A mail goes out in two steps: a draft is written, and sent. Gmail takes each
draft once.
"""

import base64
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

from integrations.contracts import AccountRef
from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Changed
from integrations.mail import compose
from integrations.models import MailWrite
from integrations.network.answers import parse
from integrations.ports.mail import MailWriter
from integrations.providers.google_mail import labels
from integrations.providers.google_mail.answers import DraftSaid, MessageSaid
from integrations.providers.google_mail.mails import ME, Mails, mails_of
from integrations.providers.mailboxes.drafting import DraftingWriter, Written
from integrations.providers.mailboxes.mailbox_writer import Answer


class GmailWriter(DraftingWriter[Mails]):
    """Satisfies `integrations.ports.mail.MailWriter`."""

    def _mails(self) -> AbstractContextManager[Mails]:
        return nullcontext(mails_of(self._account))

    def move_email(self, email_id: str, *, folder_id: str, key: str) -> Answer:
        """Out of the inbox and under this label."""
        return self._change("move_email", email_id, add=(folder_id,), remove=("INBOX",), key=key)

    def delete_draft(self, draft_id: str, *, revision: str | None, key: str) -> Answer:
        """Gmail holds no deletion to a version: a moment is left between look and write."""

        def write(mails: Mails, row: MailWrite) -> Answer:
            if revision is not None and mails.draft(draft_id).message.id != revision:
                raise Changed("somebody has edited the draft")
            mails.session.send("DELETE", f"{ME}/drafts/{mails.draft(draft_id).id}")
            return {}

        return self._written("delete_draft", key, write, target={"id": draft_id})

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
        def write(mails: Mails, row: MailWrite) -> Answer:
            labels.check(add, [*remove, *thread_remove], mails.own_labels)
            said = mails.get(email_id)
            if thread_remove:
                for other in mails.in_thread(said.thread_id):
                    if other.id != said.id:
                        _set(mails, other, add=(), remove=thread_remove)
            _set(mails, said, add=add, remove=remove)
            return {"id": said.id}

        target = {"id": email_id, "add": list(add), "remove": list(remove)}
        return self._written(operation, key, write, target=target)

    def _draft(self, mails: Mails, mail: OutgoingMail, message: EmailMessage, key: str) -> Written:
        """With its blind copies: Gmail sends to them and takes the header off."""
        raw = base64.urlsafe_b64encode(compose.to_bytes(message, blind_copies=True)).decode()
        answered = mails.get(mail.reply_to_id).thread_id if mail.reply_to_id else ""
        body: dict[str, Any] = {"raw": raw} | ({"threadId": answered} if answered else {})
        said = parse(DraftSaid, mails.session.send("POST", f"{ME}/drafts", {"message": body}))
        return Written(
            id=said.id, thread_id=said.message.thread_id, message_id=str(message["Message-ID"])
        )

    def _drafts_of(self, mails: Mails, key: str) -> Iterator[Written]:
        message_id = compose.message_id(key, self._account.address)
        for one in mails.drafts_of(key):
            yield Written(id=one.id, thread_id=one.message.thread_id, message_id=message_id)

    def _discard(self, mails: Mails, draft_id: str) -> None:
        mails.session.send("DELETE", f"{ME}/drafts/{draft_id}")

    def _submit(self, mails: Mails, draft: Written, key: str) -> Written:
        said = mails.session.send("POST", f"{ME}/drafts/send", {"id": draft.id})
        sent = parse(MessageSaid, said)
        return replace(draft, id=sent.id, thread_id=sent.thread_id)


def _set(mails: Mails, said: MessageSaid, *, add: Sequence[str], remove: Sequence[str]) -> None:
    if wanted := labels.change(add, remove, said.labels):
        mails.session.send("POST", f"{ME}/messages/{said.id}/modify", wanted)


open_writer: Callable[[AccountRef], MailWriter] = GmailWriter

"""Writes to one mailbox at Gmail, and mail out of it. Only `integrations.accounts.writes` may
import this module.

Gmail knows no idempotency keys. So each write is a row (`MailWrite`), committed before each step
that others can see. A mail goes out in two steps: a draft is written, and sent. Gmail takes each
draft once.
"""

import base64
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from email.message import EmailMessage
from typing import Any

from integrations.contracts import AccountRef
from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Changed, NotFound, ProviderError
from integrations.mail import compose
from integrations.models import MailWrite
from integrations.network.answers import parse
from integrations.ports.mail import MailWriter
from integrations.providers.google_mail import labels
from integrations.providers.google_mail.answers import DraftSaid, MessageSaid
from integrations.providers.google_mail.mails import ME, Mails, mails_of
from integrations.providers.imap import progress
from integrations.providers.imap.mailbox_writer import Answer, MailboxWriter


class GmailWriter(MailboxWriter[Mails]):
    """Satisfies `integrations.ports.mail.MailWriter`."""

    def _mails(self) -> AbstractContextManager[Mails]:
        return nullcontext(mails_of(self._account))

    def move_email(self, email_id: str, *, folder_id: str, key: str) -> Answer:
        """Out of the inbox and under this label."""
        return self._change("move_email", email_id, add=(folder_id,), remove=("INBOX",), key=key)

    def create_draft(self, mail: OutgoingMail, *, key: str) -> Answer:
        def write(mails: Mails, row: MailWrite) -> Answer:
            message = self._composed(mails, mail, key)
            if row.target:  # an earlier try may have written it
                for known in mails.drafts_of(key):
                    return _answer(known.id, known.message.thread_id, message)
            else:
                progress.aim(row, {"tried": True})
            draft = _draft(mails, message, self._thread(mails, mail))
            return _answer(draft.id, draft.message.thread_id, message)

        return self._written("create_draft", key, write)

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

    def _sent(
        self,
        operation: str,
        mail: OutgoingMail,
        key: str,
        written: Callable[[Mails], EmailMessage],
    ) -> Answer:
        row = progress.begin(self._account.id, key, operation)
        if row.state == progress.DONE:
            return dict(row.answer)
        progress.check(row)
        mails = mails_of(self._account)
        for left in mails.drafts_of(key) if row.target else ():  # of an earlier try
            with suppress(NotFound):
                mails.session.send("DELETE", f"{ME}/drafts/{left.id}")
        progress.aim(row, {"tried": True})
        message = written(mails)
        draft = _draft(mails, message, self._thread(mails, mail))
        about = {"draft_id": draft.id, "thread_id": draft.message.thread_id}
        try:
            progress.aim(row, {**about, "message_id": str(message["Message-ID"])})
            progress.submit(row)
            said = mails.session.send("POST", f"{ME}/drafts/send", {"id": draft.id})
        except ProviderError as error:
            if not error.outcome_unknown:
                progress.refuse(row)
                with suppress(ProviderError):
                    mails.session.send("DELETE", f"{ME}/drafts/{draft.id}")
            raise
        sent = parse(MessageSaid, said)
        answer = _answer(sent.id, sent.thread_id, message)
        progress.finish(row, answer)
        return answer

    def _thread(self, mails: Mails, mail: OutgoingMail) -> str:
        return mails.get(mail.reply_to_id).thread_id if mail.reply_to_id else ""


def _draft(mails: Mails, message: EmailMessage, thread_id: str) -> DraftSaid:
    """With its blind copies: Gmail sends to them and takes the header off."""
    raw = base64.urlsafe_b64encode(compose.to_bytes(message, blind_copies=True)).decode()
    body: dict[str, Any] = {"raw": raw} | ({"threadId": thread_id} if thread_id else {})
    return parse(DraftSaid, mails.session.send("POST", f"{ME}/drafts", {"message": body}))


def _set(mails: Mails, said: MessageSaid, *, add: Sequence[str], remove: Sequence[str]) -> None:
    if wanted := labels.change(add, remove, said.labels):
        mails.session.send("POST", f"{ME}/messages/{said.id}/modify", wanted)


def _answer(id: str, thread_id: str, message: EmailMessage) -> Answer:
    return {"id": id, "thread_id": thread_id, "message_id": str(message["Message-ID"])}


open_writer: Callable[[AccountRef], MailWriter] = GmailWriter

"""Writes to one mailbox over Microsoft Graph, and mail out of it. Only
`integrations.accounts.writes` may import this module.

A mail goes out in two steps. Its draft carries the key of its write in a property of its own and in
its Message-ID, and the mail that goes out from it keeps both.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Changed, NotFound, ProviderError
from integrations.mail import compose
from integrations.models import MailWrite
from integrations.network.answers import parse
from integrations.ports.mail import MailWriter
from integrations.providers.mailboxes.drafting import DraftingWriter, Written
from integrations.providers.mailboxes.mailbox_writer import Answer
from integrations.providers.microsoft.subscribing import SubscribingWriter
from integrations.providers.microsoft_mail import labelling, outgoing
from integrations.providers.microsoft_mail.answers import MessageSaid
from integrations.providers.microsoft_mail.mails import LISTED, Mails, mails_of

# Exchange may still be busy with a draft that it has just made, and refuses to change it.
MOST_TRIES = 5


class GraphMailWriter(SubscribingWriter, DraftingWriter[Mails]):
    """Satisfies `integrations.ports.mail.MailWriter` and `.pushes.PushWriter`."""

    resource = "me/messages"

    @contextmanager
    def _mails(self) -> Iterator[Mails]:
        mails = mails_of(self._account)
        try:
            yield mails
        finally:
            self.request_id = mails.session.request_id

    def move_email(self, email_id: str, *, folder_id: str, key: str) -> Answer:
        return self._change("move_email", email_id, add=(folder_id,), remove=(), key=key)

    def forward_email(self, email_id: str, mail: OutgoingMail, *, key: str) -> Answer:
        """With all that its draft at Microsoft takes along: the text, and its attachments."""

        def write(mails: Mails) -> Written:
            subject = " ".join((mails.get(email_id).subject or "").split())
            named = replace(mail, subject=compose.forwarded_subject(subject))
            message = compose.compose(self._account, named, key=key, at=timezone.now())
            started = _start(mails, email_id, "createForward")
            return self._finished(mails, started, named, message, key=key, is_forward=True)

        return self._sent_from("forward_email", key, write)

    def delete_draft(self, draft_id: str, *, revision: str | None, key: str) -> Answer:
        """Graph holds no deletion to a version: a moment is left between look and write."""

        def write(mails: Mails, row: MailWrite) -> Answer:
            said = mails.get(draft_id)
            if not said.is_draft or said.folder != mails.roles["drafts"]:
                raise Changed("it is no draft any more")
            if revision is not None and said.version != revision:
                raise Changed("somebody has edited the draft")
            mails.delete_for_good(said)
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
            labelling.check(add, [*remove, *thread_remove])
            if thread_remove:
                for other in mails.in_thread(mails.get(email_id).thread_id):
                    if other.id != email_id:
                        labelling.change(mails, other.id, add=(), remove=thread_remove)
            labelling.change(mails, email_id, add=add, remove=remove)
            return {"id": email_id}

        target = {"id": email_id, "add": list(add), "remove": list(remove)}
        return self._written(operation, key, write, target=target)

    def _draft(self, mails: Mails, mail: OutgoingMail, message: EmailMessage, key: str) -> Written:
        if mail.reply_to_id:
            # Only so does Microsoft put it into the thread.
            started = _start(mails, mail.reply_to_id, "createReply")
            return self._finished(mails, started, mail, message, key=key)
        fields = outgoing.fields(mail, message, key=key) | outgoing.headers(key)
        said = parse(MessageSaid, mails.session.send("POST", LISTED, fields))
        return self._named(said, key)

    def _finished(
        self,
        mails: Mails,
        started: MessageSaid,
        mail: OutgoingMail,
        message: EmailMessage,
        *,
        key: str,
        is_forward: bool = False,
    ) -> Written:
        """A draft that Microsoft has started, with what is to be said."""
        try:
            fields = outgoing.fields(mail, message, key=key)
            if is_forward:
                fields["body"] = outgoing.above(mail.body, started.body)
            _fill(mails, started, fields)
        except ProviderError:
            with suppress(ProviderError):
                self._discard(mails, started.id)
            raise
        return self._named(started, key)

    def _drafts_of(self, mails: Mails, key: str) -> Iterator[Written]:
        return (self._named(one, key) for one in mails.marked("drafts", key))

    def _discard(self, mails: Mails, draft_id: str) -> None:
        said = mails.get(draft_id)
        if not said.is_draft:
            raise NotFound("it is no draft any more")
        mails.delete_for_good(said)

    def _submit(self, mails: Mails, draft: Written, key: str) -> Written:
        mails.session.send("POST", f"{LISTED}/{draft.id}/send")
        # Microsoft has it; what goes wrong from here on fails nothing.
        with suppress(ProviderError):
            if sent := mails.sent_from(draft.id, key=key, message_id=draft.message_id):
                return replace(draft, id=sent.id, thread_id=sent.thread_id)
        return draft

    def _named(self, said: MessageSaid, key: str) -> Written:
        message_id = compose.message_id(key, self._account.address)
        return Written(id=said.id, thread_id=said.thread_id, message_id=message_id)


def _start(mails: Mails, email_id: str, how: str) -> MessageSaid:
    """Raises NotFound."""
    answered = mails.get(email_id)
    return parse(MessageSaid, mails.session.send("POST", f"{LISTED}/{answered.id}/{how}"))


def _fill(mails: Mails, started: MessageSaid, fields: dict[str, Any]) -> None:
    for left in reversed(range(MOST_TRIES)):
        try:
            mails.session.send("PATCH", f"{LISTED}/{started.id}", fields)
        except Changed:
            if not left:
                raise
        else:
            return


open_writer: Callable[[AccountRef], MailWriter] = GraphMailWriter

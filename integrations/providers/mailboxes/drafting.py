"""Mail that goes out in two steps: a draft is written, and sent.

Such a server knows no idempotency keys, and shows what became of a draft. So each write is a row
(`MailWrite`), committed before each step that others can see.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from typing import TypeVar

from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import NotFound, ProviderError
from integrations.models import MailWrite
from integrations.providers.mailboxes import progress
from integrations.providers.mailboxes.mailbox_writer import Answer, MailboxWriter, Mails

M = TypeVar("M", bound=Mails)


@dataclass(frozen=True, kw_only=True)
class Written:
    """A draft, or the mail that went out from it."""

    id: str
    thread_id: str
    message_id: str

    @property
    def answer(self) -> Answer:
        return {"id": self.id, "thread_id": self.thread_id, "message_id": self.message_id}


class DraftingWriter(MailboxWriter[M]):
    """What writing drafts and sending them is like at all of them."""

    def create_draft(self, mail: OutgoingMail, *, key: str) -> Answer:
        def write(mails: M, row: MailWrite) -> Answer:
            message = self._composed(mails, mail, key)
            if row.target:  # an earlier try may have written it
                for known in self._drafts_of(mails, key):
                    return known.answer
            else:
                progress.aim(row, {"tried": True})
            return self._draft(mails, mail, message, key).answer

        return self._written("create_draft", key, write)

    def _sent(
        self, operation: str, mail: OutgoingMail, key: str, written: Callable[[M], EmailMessage]
    ) -> Answer:
        def draft(mails: M) -> Written:
            return self._draft(mails, mail, written(mails), key)

        return self._sent_from(operation, key, draft)

    def _sent_from(self, operation: str, key: str, write: Callable[[M], Written]) -> Answer:
        """The draft that `write` makes goes out, once."""
        row = progress.begin(self._account.id, key, operation)
        if row.state == progress.DONE:
            return dict(row.answer)
        progress.check(row)
        with self._mails() as mails:
            for left in self._drafts_of(mails, key) if row.target else ():  # of an earlier try
                with suppress(NotFound):
                    self._discard(mails, left.id)
            progress.aim(row, {"tried": True})
            draft = write(mails)
            about = {"draft_id": draft.id, "thread_id": draft.thread_id}
            try:
                progress.aim(row, {**about, "message_id": draft.message_id})
                progress.submit(row)
                answer = self._submit(mails, draft, key).answer
            except ProviderError as error:
                if not error.outcome_unknown:
                    progress.refuse(row)
                    with suppress(ProviderError):
                        self._discard(mails, draft.id)
                raise
        progress.finish(row, answer)
        return answer

    @abstractmethod
    def _draft(self, mails: M, mail: OutgoingMail, message: EmailMessage, key: str) -> Written:
        """A new draft with the mark of this key."""

    @abstractmethod
    def _drafts_of(self, mails: M, key: str) -> Iterable[Written]:
        """Drafts with the mark of this key."""

    @abstractmethod
    def _discard(self, mails: M, draft_id: str) -> None:
        """Deletes a draft for good, and nothing that was sent. Raises NotFound."""

    @abstractmethod
    def _submit(self, mails: M, draft: Written, key: str) -> Written:
        """Sends the draft; the mail that went out from it."""

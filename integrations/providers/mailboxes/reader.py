"""What reading is like at all of them."""

from abc import ABC, abstractmethod
from datetime import datetime
from typing import IO

from integrations.contracts import AccountRef, AnyItem, Colleague, Email, Page
from integrations.contracts.outgoing import Draft
from integrations.exceptions import NotFound, TooLarge


class MailboxReader(ABC):
    """What `integrations.ports.mail.MailReader` asks, as far as they do not differ."""

    def __init__(self, account: AccountRef) -> None:
        self._account = account

    @abstractmethod
    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]: ...
    @abstractmethod
    def email(self, email_id: str) -> Email: ...
    @abstractmethod
    def attachment(self, file_id: str) -> bytes:
        """Raises NotFound."""

    def items_in_window(self, *, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
        return self.items(since=since, cursor=cursor, limit=limit)

    def item(self, item_id: str) -> AnyItem:
        return self.email(item_id)

    def directory(self, *, cursor: str | None, limit: int) -> Page[Colleague]:
        raise NotFound("a mailbox knows no colleagues")

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        content = self.attachment(file_id)
        if len(content) > most_bytes:
            raise TooLarge("the attachment is too large")
        into.write(content)


def draft_of(email: Email, *, id: str, revision: str) -> Draft:
    return Draft(
        id=id,
        revision=revision,
        thread_id=email.thread_id,
        to=email.to,
        cc=email.cc,
        bcc=email.bcc,
        subject=email.subject,
        body=email.body_text,
    )

"""Mailboxes."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from integrations.contracts import (
    Colleague,
    Draft,
    Email,
    Folder,
    Mailbox,
    Named,
    OutgoingMail,
    Page,
)
from integrations.ports.account import Reader, Writer


@runtime_checkable
class MailReader(Reader, Protocol):
    def email(self, email_id: str) -> Email: ...
    def thread(self, thread_id: str) -> tuple[Email, ...]: ...
    def draft(self, draft_id: str) -> Draft: ...
    def labels(self) -> tuple[Named, ...]: ...
    def folders(self) -> tuple[Folder, ...]: ...
    def mailbox(self) -> Mailbox:
        """Whose mailbox it is, and who else reads it."""
        ...

    def directory(self, *, cursor: str | None, limit: int) -> Page[Colleague]:
        """The people and groups of the mailbox's organisation, as its administrators keep them at
        the provider. Never contacts: those are made from mail of strangers."""
        ...


@runtime_checkable
class MailWriter(Writer, Protocol):
    def archive(self, email_id: str, *, key: str) -> dict[str, Any]: ...
    def trash_email(self, email_id: str, *, key: str) -> dict[str, Any]:
        """Puts it out of the inbox and into the trash, where it can be found for a while."""
        ...

    def mark_read(self, email_id: str, *, key: str) -> dict[str, Any]: ...
    def move_email(self, email_id: str, *, folder_id: str, key: str) -> dict[str, Any]: ...
    def change_labels(
        self,
        email_id: str,
        *,
        add: Sequence[str],
        remove: Sequence[str],
        thread_remove: Sequence[str] = (),
        key: str,
    ) -> dict[str, Any]:
        """`thread_remove`: labels that the other mails of its thread give up in the same step."""
        ...

    def create_draft(self, mail: OutgoingMail, *, key: str) -> dict[str, Any]: ...
    def delete_draft(self, draft_id: str, *, revision: str | None, key: str) -> dict[str, Any]: ...
    def send_email(self, mail: OutgoingMail, *, key: str) -> dict[str, Any]: ...
    def forward_email(self, email_id: str, mail: OutgoingMail, *, key: str) -> dict[str, Any]: ...

"""What Remit needs from a provider. Readers and writers are different things: code that
handles model output can be given a reader and never has a way to a write."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from integrations.contracts import (
    AnyItem,
    Correspondence,
    Document,
    Draft,
    Email,
    Event,
    Issue,
    Named,
    Operation,
    Page,
)


class Reader(Protocol):
    """Reads of one user's data. Raises integrations.exceptions.ProviderError."""

    def emails(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[Email]: ...
    def documents(
        self, *, since: datetime | None, cursor: str | None, limit: int
    ) -> Page[Document]: ...
    def events(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[Event]: ...
    def issues(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[Issue]: ...
    def item(self, *, source: str, source_id: str) -> AnyItem: ...
    def email(self, email_id: str) -> Email: ...
    def thread(self, thread_id: str) -> tuple[Email, ...]: ...
    def drafts(self, *, thread_id: str) -> tuple[Draft, ...]: ...
    def labels(self) -> tuple[Named, ...]: ...
    def folders(self) -> tuple[Named, ...]: ...
    def projects(self) -> tuple[Named, ...]: ...
    def correspondence(self, address: str) -> Correspondence: ...
    def operation(self, idempotency_key: str) -> Operation | None:
        """What the provider performed under this key; None when it performed nothing."""
        ...


class Writer(Protocol):
    """Writes for one user, each with the idempotency key of one attempt's action.

    Returns the provider's answer as a plain dict. Only `guardrails.executor` may open one.
    """

    def archive(self, email_id: str, *, key: str) -> dict[str, Any]: ...
    def change_labels(
        self, email_id: str, *, add: Sequence[str], remove: Sequence[str], key: str
    ) -> dict[str, Any]: ...
    def create_draft(
        self,
        *,
        to: Sequence[str],
        cc: Sequence[str],
        bcc: Sequence[str],
        subject: str,
        body: str,
        reply_to_id: str | None,
        key: str,
    ) -> dict[str, Any]: ...
    def send_email(
        self,
        *,
        to: Sequence[str],
        cc: Sequence[str],
        bcc: Sequence[str],
        subject: str,
        body: str,
        reply_to_id: str | None,
        key: str,
    ) -> dict[str, Any]: ...
    def create_issue(
        self,
        *,
        project_key: str,
        type: str,
        summary: str,
        description: str,
        priority: str | None,
        labels: Sequence[str],
        assignee: str | None,
        key: str,
    ) -> dict[str, Any]: ...

"""What Remit needs from a provider. Readers and writers are different things: code that
handles model output can be given a reader and never has a way to a write."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import IO, Any, Protocol

from integrations.contracts import (
    AnyItem,
    Change,
    Correspondence,
    Document,
    Draft,
    Email,
    Event,
    Folder,
    Issue,
    Mailbox,
    Named,
    Operation,
    OutgoingMail,
    Page,
    Source,
)
from integrations.mcp.contracts import Tool


class Files(Protocol):
    """Where the bytes of attachments and documents come from. Raises
    integrations.exceptions.ProviderError."""

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        """Write the bytes of an attachment or document into a file that can be rewound. Raises
        TooLarge for more than `most_bytes`."""
        ...


class Import(Protocol):
    """What an operator reads in, page by page. `place` tells it from others, and begins each of
    its cursors; `attached` holds the attachments of the last two pages."""

    place: str

    @property
    def attached(self) -> Files: ...
    def page(self, cursor: str | None) -> Page[AnyItem]: ...
    def close(self) -> None: ...


class Reader(Files, Protocol):
    """Reads of one user's data. Raises integrations.exceptions.ProviderError."""

    def emails(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[Email]: ...
    def documents(
        self, *, since: datetime | None, cursor: str | None, limit: int
    ) -> Page[Document]: ...
    def events(
        self,
        *,
        since: datetime | None,
        cursor: str | None,
        limit: int,
        start_date: date | None = None,
        end_date: date | None = None,
    ) -> Page[Event]: ...
    def issues(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[Issue]: ...
    def items(
        self, *, source: Source, since: datetime | None, cursor: str | None, limit: int
    ) -> Page[AnyItem]:
        """A list of any source of the data service."""
        ...

    def item(self, *, source: Source, source_id: str) -> AnyItem:
        """One item of any source of the data service. Raises Rejected for a source that it does
        not have."""
        ...

    def email(self, email_id: str) -> Email: ...
    def thread(self, thread_id: str) -> tuple[Email, ...]: ...
    def drafts(self, *, thread_id: str) -> tuple[Draft, ...]: ...
    def labels(self) -> tuple[Named, ...]: ...
    def folders(self) -> tuple[Folder, ...]: ...
    def mailbox(self) -> Mailbox: ...
    def document(self, document_id: str) -> Document: ...
    def event(self, event_id: str) -> Event: ...
    def issue(self, key: str) -> Issue: ...
    def draft(self, draft_id: str) -> Draft: ...
    def projects(self) -> tuple[Named, ...]: ...
    def correspondence(self, address: str) -> Correspondence: ...
    def operation(self, idempotency_key: str) -> Operation | None:
        """What the provider performed under this key; None when it performed nothing."""
        ...

    def tool(self, tool_id: str) -> Tool:
        """One tool of the organisation's MCP servers, as its server describes it now. Raises
        NotFound."""
        ...

    def history(
        self, *, source: str, since: datetime, cursor: str | None, limit: int
    ) -> Page[Change]:
        """What was changed at this source since then, oldest first. Raises NotFound where the
        provider keeps no history."""
        ...


class Writer(Protocol):
    """Writes for one user, each with the idempotency key of one attempt's action. A write with
    a `version` is refused by the provider when the object has another one by now.

    Returns the provider's answer as a plain dict. Only `guardrails.execute.executor` may open one.
    `credential` is a fingerprint of what it writes with, and `request_id` what the provider
    calls its last request; empty where nobody can tell.
    """

    @property
    def credential(self) -> str: ...
    @property
    def request_id(self) -> str: ...
    def archive(self, email_id: str, *, key: str) -> dict[str, Any]: ...
    def mark_read(self, email_id: str, *, key: str) -> dict[str, Any]: ...
    def move_email(self, email_id: str, *, folder_id: str, key: str) -> dict[str, Any]: ...
    def forward_email(self, email_id: str, mail: OutgoingMail, *, key: str) -> dict[str, Any]: ...
    def delete_draft(self, draft_id: str, *, version: int | None, key: str) -> dict[str, Any]: ...
    def create_event(self, fields: Mapping[str, Any], *, key: str) -> dict[str, Any]: ...
    def change_event(
        self, event_id: str, changes: Mapping[str, Any], *, version: int | None, key: str
    ) -> dict[str, Any]: ...
    def cancel_event(self, event_id: str, *, version: int | None, key: str) -> dict[str, Any]: ...
    def change_issue(
        self, issue_key: str, changes: Mapping[str, Any], *, version: int | None, key: str
    ) -> dict[str, Any]: ...
    def comment_issue(
        self, issue_key: str, *, body: str, version: int | None, key: str
    ) -> dict[str, Any]: ...
    def create_document(
        self, *, name: str, content: str, folder_id: str, key: str
    ) -> dict[str, Any]: ...
    def append_document(
        self, document_id: str, *, content: str, version: int | None, key: str
    ) -> dict[str, Any]: ...
    def move_document(
        self, document_id: str, *, folder_id: str, version: int | None, key: str
    ) -> dict[str, Any]: ...
    def share_document(
        self, document_id: str, *, email: str, role: str, version: int | None, key: str
    ) -> dict[str, Any]: ...
    def unshare_document(
        self, document_id: str, *, email: str, version: int | None, key: str
    ) -> dict[str, Any]: ...
    def change_labels(
        self, email_id: str, *, add: Sequence[str], remove: Sequence[str], key: str
    ) -> dict[str, Any]: ...
    def create_draft(self, mail: OutgoingMail, *, key: str) -> dict[str, Any]: ...
    def send_email(self, mail: OutgoingMail, *, key: str) -> dict[str, Any]: ...
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
    def call_tool(
        self, tool_id: str, arguments: Mapping[str, Any], *, version: int | None, key: str
    ) -> dict[str, Any]: ...

"""Reads of one account's data at its provider."""

from datetime import date, datetime
from functools import cached_property
from typing import IO, Any, TypeVar

from integrations import mcp_tools
from integrations.connectors.base import Connector
from integrations.contracts import (
    AccountRef,
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
    Page,
    Project,
    ProviderObject,
    Source,
)
from integrations.data_service import (
    M,
    gate,
    has_upstream,
    listed,
    page,
    parse,
    segment,
    upstream,
)
from integrations.exceptions import Malformed, NotFound, Rejected, Unavailable
from integrations.mcp.contracts import Tool
from integrations.network import http
from integrations.network.gate import Gate
from integrations.ports import Reader
from integrations.registry import BY_SOURCE

P = TypeVar("P", bound=ProviderObject)


def reader(account: AccountRef) -> Reader:
    """A reader of what this account's user may see, and of nobody else's data."""
    return McpReader(account) if account.source == "mcp" else DataServiceReader(account)


def _provided(source: Source) -> Connector:
    connector = BY_SOURCE[source]
    if not connector.path:
        raise Rejected(f"{source} is no source of the data service")
    return connector


class DataServiceReader:
    """Reads through the data service. Satisfies `integrations.ports.Reader`."""

    def __init__(self, account: AccountRef) -> None:
        self._account = account
        self._user = f"/users/{segment(account.external_user_id)}"

    @cached_property
    def _upstream(self) -> http.Upstream:
        return upstream(self._account)

    @cached_property
    def _gate(self) -> Gate:
        return gate(self._account)

    def _get(self, path: str, **params: Any) -> Any:
        present = {name: value for name, value in params.items() if value is not None}
        return http.request(
            self._upstream, "GET", self._user + path, params=present, slot=self._gate.slot
        )

    def _page(
        self, path: str, model: type[P], *, since: datetime | None, cursor: str | None, limit: int
    ) -> Page[P]:
        since_text = since.isoformat() if since else None
        data = self._get(path, since=since_text, cursor=cursor, limit=limit)
        return page(model, data, cursor=cursor)

    @staticmethod
    def _items(data: Any, model: type[M], key: str = "items") -> tuple[M, ...]:
        return tuple(parse(model, item) for item in listed(data, key))

    def emails(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[Email]:
        return self._page("/emails", Email, since=since, cursor=cursor, limit=limit)

    def documents(
        self, *, since: datetime | None, cursor: str | None, limit: int
    ) -> Page[Document]:
        return self._page("/documents", Document, since=since, cursor=cursor, limit=limit)

    def events(
        self,
        *,
        since: datetime | None,
        cursor: str | None,
        limit: int,
        start_date: date | None = None,
        end_date: date | None = None,
    ) -> Page[Event]:
        data = self._get(
            "/events",
            since=since.isoformat() if since else None,
            start_date=start_date.isoformat() if start_date else None,
            end_date=end_date.isoformat() if end_date else None,
            cursor=cursor,
            limit=limit,
        )
        return page(Event, data, cursor=cursor)

    def issues(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[Issue]:
        return self._page("/jira/issues", Issue, since=since, cursor=cursor, limit=limit)

    def items(
        self, *, source: Source, since: datetime | None, cursor: str | None, limit: int
    ) -> Page[AnyItem]:
        connector = _provided(source)
        return self._page(
            connector.path, connector.item_type, since=since, cursor=cursor, limit=limit
        )

    def item(self, *, source: Source, source_id: str) -> AnyItem:
        connector = _provided(source)
        return parse(connector.item_type, self._get(f"{connector.path}/{segment(source_id)}"))

    def email(self, email_id: str) -> Email:
        return parse(Email, self._get(f"/emails/{segment(email_id)}"))

    def thread(self, thread_id: str) -> tuple[Email, ...]:
        return self._items(self._get(f"/threads/{segment(thread_id)}"), Email, "messages")

    def drafts(self, *, thread_id: str) -> tuple[Draft, ...]:
        return self._items(self._get("/drafts", thread_id=thread_id), Draft)

    def labels(self) -> tuple[Named, ...]:
        return self._items(self._get("/labels"), Named)

    def folders(self) -> tuple[Folder, ...]:
        return self._items(self._get("/folders"), Folder)

    def mailbox(self) -> Mailbox:
        return parse(Mailbox, self._get("/mailbox"))

    def document(self, document_id: str) -> Document:
        return self._versioned(Document, f"/documents/{segment(document_id)}")

    def event(self, event_id: str) -> Event:
        return self._versioned(Event, f"/events/{segment(event_id)}")

    def issue(self, key: str) -> Issue:
        return self._versioned(Issue, f"/jira/issues/{segment(key)}")

    def draft(self, draft_id: str) -> Draft:
        return self._versioned(Draft, f"/drafts/{segment(draft_id)}")

    def _versioned(self, model: type[P], path: str) -> P:
        """An object that can be changed. Without a version no write could be held to it."""
        found = parse(model, self._get(path))
        if found.version < 1:
            raise Malformed(f"{model.__name__}: version")
        return found

    def projects(self) -> tuple[Named, ...]:
        return tuple(
            Named(id=project.key, name=project.name)
            for project in self._items(self._get("/jira/projects"), Project)
        )

    def correspondence(self, address: str) -> Correspondence:
        return parse(Correspondence, self._get("/correspondence", address=address))

    def operation(self, idempotency_key: str) -> Operation | None:
        try:
            data = self._get(f"/operations/{segment(idempotency_key)}")
        except NotFound:
            return None
        return parse(Operation, data)

    def tool(self, tool_id: str) -> Tool:
        raise NotFound("the data service has no tools")

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        http.download(
            self._upstream,
            f"{self._user}/files/{segment(file_id)}",
            into=into,
            most_bytes=most_bytes,
            slot=self._gate.slot,
        )

    def history(
        self, *, source: str, since: datetime, cursor: str | None, limit: int
    ) -> Page[Change]:
        data = self._get(
            "/history", source=source, since=since.isoformat(), cursor=cursor, limit=limit
        )
        items = self._items(data, Change)
        following = data.get("next_cursor")
        if following is not None and not isinstance(following, str):
            raise Malformed("“next_cursor” is not text")
        return Page(items=items, next_cursor=following)


class McpReader(DataServiceReader):
    """Reads of an account through which the organisation's MCP servers are called. Everything
    else it reads of the same user's data service, where there is one."""

    def correspondence(self, address: str) -> Correspondence:
        """Where there is no data service, the user has written to nobody."""
        if not has_upstream(self._account):
            return Correspondence(address=address, sent=0, received=0)
        return super().correspondence(address)

    def tool(self, tool_id: str) -> Tool:
        return mcp_tools.tool(self._account, tool_id)

    def operation(self, idempotency_key: str) -> Operation | None:
        """No server can be asked what it did: whoever wants to know must look there."""
        raise Unavailable("MCP servers keep no record of operations")

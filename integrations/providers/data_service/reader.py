"""Reads through the External Data Service."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import IO, Any, TypeVar, get_args

from integrations.contracts import (
    AccountRef,
    AnyItem,
    Change,
    Colleague,
    Document,
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
)
from integrations.contracts.outgoing import Draft
from integrations.contracts.people import Correspondence, Correspondent, Member
from integrations.exceptions import Malformed, NotFound, Rejected
from integrations.network import http
from integrations.network.gate import Gate
from integrations.ports.account import Reader
from integrations.ports.calendar import Reply
from integrations.ports.evidence import Evidence, NotPerformed, Performed
from integrations.ports.issues import Sorting
from integrations.ports.registry import DATA_SERVICE
from integrations.providers.data_service.session import (
    M,
    gate,
    listed,
    page,
    parse,
    revised,
    segment,
    upstream,
)

P = TypeVar("P", bound=ProviderObject)
ITEM_TYPES: dict[str, type[AnyItem]] = {
    one.source: one.item_type for one in DATA_SERVICE.connectors
}
# Every other source has paths that name it.
PATHS = {
    "gmail": "/emails",
    "gdrive": "/documents",
    "calendar": "/events",
    "jira": "/jira/issues",
}
# What the service itself leaves out, of what an account is narrowed by.
FILTERS = {"gdrive": ("mime_types",), "jira": ("project_keys",)}
OPEN_STATUSES = ("To Do", "In Progress", "In Review")
CHANGED, OPEN = "changed", "open"  # the lists of a first sync of issues


class DataServiceReader:
    """Satisfies the readers of mail, files, calendar and issues in `integrations.ports`: of what an
    account's user has at the service, everything can be asked for whichever account it is."""

    def __init__(self, account: AccountRef, *, filters: Sequence[str] = ()) -> None:
        self._account = account
        self._filters = filters
        self._user = f"/users/{segment(account.external_user_id)}"

    def narrowed(self) -> "DataServiceReader":
        """One that lists no more than what the account's operator lets in. For a sync alone: what
        is looked up (is this title the only one?) is looked up in everything."""
        return DataServiceReader(self._account, filters=FILTERS.get(self._account.source, ()))

    @cached_property
    def _upstream(self) -> http.Upstream:
        return upstream(self._account)

    @cached_property
    def _gate(self) -> Gate:
        return gate(self._account)

    def _get(self, path: str, **params: Any) -> Any:
        present = {name: value for name, value in params.items() if value not in (None, ())}
        return http.request(
            self._upstream, "GET", self._user + path, params=present, slot=self._gate.slot
        )

    @staticmethod
    def _items(data: Any, model: type[M], key: str = "items") -> tuple[M, ...]:
        return tuple(parse(model, item) for item in listed(data, key))

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        return self._listed(cursor, limit, since=since.isoformat() if since else None)

    def items_in_window(
        self, *, since: datetime, cursor: str | None, limit: int, until: datetime | None = None
    ) -> Page[AnyItem]:
        if self._account.source == "calendar":
            last = until.date().isoformat() if until else None
            return self._listed(cursor, limit, start_date=since.date().isoformat(), end_date=last)
        if self._account.source == "jira":
            return self._issues_in_window(since, cursor, limit)
        return self.items(since=since, cursor=cursor, limit=limit)

    def _issues_in_window(self, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
        """What was changed since then, and after it every issue that is open, however old: it is
        what the user has to do. The cursor begins with the list that it is of."""
        name, _, place = (cursor or CHANGED).partition(" ")
        if name == OPEN:
            found = self._listed(place or None, limit, status=OPEN_STATUSES)
            # What was changed since then has come already.
            older = [one for one in found.items if not one.updated_at or one.updated_at < since]
            found = replace(found, items=tuple(older))
        else:
            found = self.items(since=since, cursor=place or None, limit=limit)
        if found.next_cursor:
            return replace(found, next_cursor=f"{name} {found.next_cursor}")
        return found if name == OPEN else replace(found, next_cursor=f"{OPEN} ", remaining=None)

    def item(self, item_id: str) -> AnyItem:
        return parse(self._item_type, self._get(f"{self._path}/{segment(item_id)}"))

    @property
    def _item_type(self) -> type[AnyItem]:
        found = ITEM_TYPES.get(self._account.source)
        if found is None:
            raise Rejected(f"{self._account.source} is no source of the data service")
        return found

    @property
    def _path(self) -> str:
        """Where the items of the account's source are."""
        source = self._account.source
        return PATHS.get(source, f"/sources/{source}/items")

    def _listed(self, cursor: str | None, limit: int, **params: Any) -> Page[AnyItem]:
        params |= {name: getattr(self._account, name) for name in self._filters}
        data = self._get(self._path, cursor=cursor, limit=limit, **params)
        return page(self._item_type, data, cursor=cursor)

    def email(self, email_id: str) -> Email:
        return parse(Email, self._get(f"/emails/{segment(email_id)}"))

    def thread(self, thread_id: str) -> tuple[Email, ...]:
        return self._items(self._get(f"/threads/{segment(thread_id)}"), Email, "messages")

    def labels(self) -> tuple[Named, ...]:
        return self._items(self._get("/labels"), Named)

    def folders(self) -> tuple[Folder, ...]:
        return self._items(self._get("/folders"), Folder)

    def calendars(self) -> tuple[Named, ...]:
        return ()

    def mailbox(self) -> Mailbox:
        return parse(Mailbox, self._get("/mailbox"))

    def directory(self, *, cursor: str | None, limit: int) -> Page[Colleague]:
        data = self._get("/directory", cursor=cursor, limit=limit)
        return Page(items=self._items(data, Colleague), next_cursor=_following(data))

    def document(self, document_id: str) -> Document:
        return self._versioned(Document, f"/documents/{segment(document_id)}")

    def event(self, event_id: str) -> Event:
        return self._versioned(Event, f"/events/{segment(event_id)}")

    def issue(self, key: str) -> Issue:
        return self._versioned(Issue, f"/jira/issues/{segment(key)}")

    def settable(self, issue: Issue) -> Mapping[Sorting, Sequence[str] | None]:
        return dict.fromkeys(get_args(Sorting)) if self._account.source == "jira" else {}

    def replies(self, event: Event) -> frozenset[Reply]:
        return frozenset(get_args(Reply)) if self._account.source == "calendar" else frozenset()

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

    def members(self, project_key: str) -> tuple[Member, ...]:
        return self._items(self._get(f"/jira/projects/{segment(project_key)}/members"), Member)

    def correspondence(self, address: str) -> Correspondence:
        return parse(Correspondence, self._get("/correspondence", address=address))

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        return self._items(self._get("/correspondents", limit=limit), Correspondent)

    def evidence(self, key: str) -> Evidence:
        """The service writes down the key in the transaction of the effect, so what it does not
        know was not done."""
        try:
            found = parse(Operation, self._get(f"/operations/{segment(key)}"))
        except NotFound:
            return NotPerformed(proof="The data service knows no operation of this key.")
        if found.status >= 300:
            return NotPerformed(proof=f"The data service answered with {found.status}.")
        return Performed(response=revised(found.response), at=found.performed_at)

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        http.download(
            self._upstream,
            f"{self._user}/files/{segment(file_id)}",
            into=into,
            most_bytes=most_bytes,
            slot=self._gate.slot,
        )

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        data = self._get(
            "/history",
            source=self._account.source,
            since=since.isoformat(),
            cursor=cursor,
            limit=limit,
        )
        return Page(items=self._items(data, Change), next_cursor=_following(data))


def _following(data: Any) -> str | None:
    following = data.get("next_cursor")
    if following is not None and not isinstance(following, str):
        raise Malformed("“next_cursor” is not text")
    return following


open_reader: Callable[[AccountRef], Reader] = DataServiceReader

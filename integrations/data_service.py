"""Client of the External Data Service contract (`docs/data-service.md`), read and write side.

The two sides are different classes: `DataServiceReader` is open to everyone, the writer is
opened by `integrations.writes` alone.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from django.conf import settings
from pydantic import BaseModel, ValidationError

from integrations import http
from integrations.contracts import (
    AccountRef,
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
from integrations.exceptions import Malformed, NotFound, NotPermitted

M = TypeVar("M", bound=BaseModel)
PAGE_LIMIT = 100


def upstream(account: AccountRef) -> httpx.Client:
    """The connection pool of the organisation's data service.

    Raises NotPermitted when no address or key is configured for the organisation.
    """
    slug = account.organisation_slug
    url, key = settings.DATA_SERVICES.get(slug), settings.DATA_SERVICE_KEYS.get(slug)
    if not url or not key:
        raise NotPermitted(f"set DATA_SERVICES and DATA_SERVICE_KEYS for “{slug}”")
    return http.client(url, key)


def segment(value: str) -> str:
    """One path segment. Ids come from outside: a slash or dots must not leave the path.

    An id of dots alone survives quoting and would be resolved away, so it names nothing.
    """
    if value in ("", ".", ".."):
        raise NotFound("no such id")
    return quote(value, safe="")


def parse(model: type[M], data: object) -> M:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, e["loc"])) for e in error.errors()[:5])
        raise Malformed(f"{model.__name__}: {fields or 'not an object'}") from error


class DataServiceReader:
    """Reads of one account's user. Satisfies `integrations.ports.Reader`."""

    def __init__(self, account: AccountRef) -> None:
        self._upstream = upstream(account)
        self._user = f"/users/{segment(account.external_user_id)}"

    def _get(self, path: str, **params: Any) -> Any:
        present = {name: value for name, value in params.items() if value is not None}
        return http.request(self._upstream, "GET", self._user + path, params=present)

    def _page(
        self, path: str, model: type[M], *, since: datetime | None, cursor: str | None, limit: int
    ) -> Page[Any]:
        data = self._get(
            path, since=since.isoformat() if since else None, cursor=cursor, limit=limit
        )
        return Page(items=self._items(data, model), next_cursor=data.get("next_cursor"))

    @staticmethod
    def _items(data: Any, model: type[M], key: str = "items") -> tuple[M, ...]:
        if not isinstance(data, dict) or not isinstance(data.get(key), list):
            raise Malformed(f"“{key}” is missing")
        return tuple(parse(model, item) for item in data[key])

    def emails(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[Email]:
        return self._page("/emails", Email, since=since, cursor=cursor, limit=limit)

    def documents(
        self, *, since: datetime | None, cursor: str | None, limit: int
    ) -> Page[Document]:
        return self._page("/documents", Document, since=since, cursor=cursor, limit=limit)

    def events(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[Event]:
        data = self._get(
            "/events",
            start_date=since.date().isoformat() if since else None,
            cursor=cursor,
            limit=limit,
        )
        return Page(items=self._items(data, Event), next_cursor=data.get("next_cursor"))

    def issues(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[Issue]:
        return self._page("/jira/issues", Issue, since=since, cursor=cursor, limit=limit)

    def item(self, *, source: str, source_id: str) -> AnyItem:
        path, model = {
            "gmail": ("/emails/", Email),
            "gdrive": ("/documents/", Document),
            "calendar": ("/events/", Event),
            "jira": ("/jira/issues/", Issue),
        }[source]
        return parse(model, self._get(path + segment(source_id)))  # type: ignore[type-var]

    def email(self, email_id: str) -> Email:
        return parse(Email, self._get(f"/emails/{segment(email_id)}"))

    def thread(self, thread_id: str) -> tuple[Email, ...]:
        return self._items(self._get(f"/threads/{segment(thread_id)}"), Email, "messages")

    def drafts(self, *, thread_id: str) -> tuple[Draft, ...]:
        return self._items(self._get("/drafts", thread_id=thread_id), Draft)

    def labels(self) -> tuple[Named, ...]:
        return self._items(self._get("/labels"), Named)

    def folders(self) -> tuple[Named, ...]:
        return self._items(self._get("/folders"), Named)

    def projects(self) -> tuple[Named, ...]:
        data = self._get("/jira/projects")
        items = data.get("items", []) if isinstance(data, dict) else []
        return tuple(
            parse(Named, {"id": item.get("key"), "name": item.get("name")}) for item in items
        )

    def correspondence(self, address: str) -> Correspondence:
        return parse(Correspondence, self._get("/correspondence", address=address))

    def operation(self, idempotency_key: str) -> Operation | None:
        try:
            data = self._get(f"/operations/{segment(idempotency_key)}")
        except NotFound:
            return None
        return parse(Operation, data)


class DataServiceWriter:
    """Writes for one account's user. Satisfies `integrations.ports.Writer`."""

    def __init__(self, account: AccountRef) -> None:
        self._upstream = upstream(account)
        self._user = f"/users/{segment(account.external_user_id)}"

    def _post(self, path: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = http.request(
            self._upstream, "POST", self._user + path, body=body, idempotency_key=key
        )
        if not isinstance(answer, dict):
            raise Malformed("the answer is not an object")
        return answer

    def archive(self, email_id: str, *, key: str) -> dict[str, Any]:
        return self._post(f"/emails/{segment(email_id)}/archive", key, {})

    def change_labels(
        self, email_id: str, *, add: Sequence[str], remove: Sequence[str], key: str
    ) -> dict[str, Any]:
        body = {"add": list(add), "remove": list(remove)}
        return self._post(f"/emails/{segment(email_id)}/labels", key, body)

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
    ) -> dict[str, Any]:
        return self._post("/drafts", key, _message(to, cc, bcc, subject, body, reply_to_id))

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
    ) -> dict[str, Any]:
        return self._post("/emails/send", key, _message(to, cc, bcc, subject, body, reply_to_id))

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
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "project_key": project_key,
            "type": type,
            "summary": summary,
            "description": description,
            "labels": list(labels),
        }
        if priority is not None:
            body["priority"] = priority
        if assignee is not None:
            body["assignee"] = assignee
        return self._post("/jira/issues", key, body)


def _message(
    to: Sequence[str],
    cc: Sequence[str],
    bcc: Sequence[str],
    subject: str,
    body: str,
    reply_to_id: str | None,
) -> dict[str, Any]:
    message: dict[str, Any] = {
        "to": list(to),
        "cc": list(cc),
        "bcc": list(bcc),
        "subject": subject,
        "body": body,
    }
    return message | ({"reply_to_id": reply_to_id} if reply_to_id else {})

"""The reads of the contract."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sandbox.data_service import (
    audiences,
    cursors,
    files,
    history,
    objects,
    occurrences,
    office,
    operations,
    places,
)
from sandbox.data_service.errors import Refusal
from sandbox.data_service.places import User
from sandbox.data_service.serving import answer_read, room
from sandbox.data_service.store import JsonObject, Store
from sandbox.data_service.times import instant_text, normal_date
from sandbox.data_service.values import (
    DOCUMENT,
    DRAFT,
    EMAIL,
    EVENT,
    ISSUE,
    KINDS,
    READ_ONLY,
    Kind,
)

USUAL_LIMIT = 100
LARGEST_LIMIT = 500
SOURCES = tuple(kind.source for kind in KINDS if kind.source)
PAGING = frozenset({"since", "limit", "cursor"})
# To whom the user sent what, the latest first, and whether that answered a mail of theirs: then
# the name before the address is the one they gave themselves.
SENT_TO = """
SELECT s.address, s.name, s.date, s.name != '' AND EXISTS (
    SELECT 1 FROM objects AS own
    JOIN objects AS other ON other.user_id = own.user_id AND other.kind = own.kind
        AND other.thread_id = own.thread_id
    JOIN correspondence AS r ON r.user_id = own.user_id AND r.email_id = other.id
        AND r.direction = 'received' AND r.address = s.address AND r.date <= s.date
    WHERE own.user_id = s.user_id AND own.kind = ? AND own.id = s.email_id
) AS answers
FROM correspondence AS s WHERE s.user_id = ? AND s.direction = 'sent'
ORDER BY s.date DESC, s.address
"""

Read = Callable[[Request, Store, User], JsonObject | bytes]


def _route(path: str, read: Read, *parameters: str) -> Route:
    async def endpoint(request: Request) -> Response:
        def produce() -> JsonObject | bytes:
            store = room(request).store
            user = places.user(store, id=request.path_params["user_id"])
            for name in request.query_params:
                if name not in parameters:
                    raise Refusal(400, "unknown_parameter", f"There is no parameter {name!r}.")
            return read(request, store, user)

        return await answer_read(request, produce)

    return Route(f"/users/{{user_id}}{path}", endpoint, methods=["GET"])


def _emails(request: Request, store: Store, user: User) -> JsonObject:
    return _page(request, store, user, kind=EMAIL, filters={}, keep=lambda email: True)


def _documents(request: Request, store: Store, user: User) -> JsonObject:
    types = request.query_params.getlist("mime_types")
    return _page(
        request,
        store,
        user,
        kind=DOCUMENT,
        filters={"mime_types": types},
        keep=lambda document: not types or document["mime_type"] in types,
    )


def _events(request: Request, store: Store, user: User) -> JsonObject:
    first = _day(request, "start_date")
    last = _day(request, "end_date")
    until = "" if last is None else instant_text(last + timedelta(days=1))
    start = "" if first is None else instant_text(first)
    return _page(
        request,
        store,
        user,
        kind=EVENT,
        filters={"start": start, "until": until},
        # A series that has begun may go on: the reader works out when.
        keep=lambda event: (
            (event["end"] > start or bool(event["recurrence"]))
            and (not until or event["start"] < until)
        ),
    )


def _issues(request: Request, store: Store, user: User) -> JsonObject:
    projects = request.query_params.getlist("project_keys")
    statuses = request.query_params.getlist("status")
    return _page(
        request,
        store,
        user,
        kind=ISSUE,
        filters={"project_keys": projects, "status": statuses},
        keep=lambda issue: (
            (not projects or issue["project_key"] in projects)
            and (not statuses or issue["status"] in statuses)
        ),
    )


def _one(kind: Kind) -> Read:
    def read(request: Request, store: Store, user: User) -> JsonObject:
        return occurrences.find(store, user_id=user.id, kind=kind, id=request.path_params["id"])

    return read


def _source_items(kind: Kind) -> Read:
    def read(request: Request, store: Store, user: User) -> JsonObject:
        return _page(request, store, user, kind=kind, filters={}, keep=lambda item: True)

    return read


def _thread(request: Request, store: Store, user: User) -> JsonObject:
    id = request.path_params["id"]
    messages = objects.every(store, user_id=user.id, kind=EMAIL, thread_id=id)
    if not messages:
        raise Refusal(404, "unknown_thread", f"This user has no thread {id!r}.")
    return {"id": id, "messages": sorted(messages, key=lambda email: (email["date"], email["id"]))}


def _drafts(request: Request, store: Store, user: User) -> JsonObject:
    thread_id = request.query_params.get("thread_id")
    return {"items": objects.every(store, user_id=user.id, kind=DRAFT, thread_id=thread_id)}


def _labels(request: Request, store: Store, user: User) -> JsonObject:
    rows = store.rows("SELECT id, name FROM labels WHERE user_id = ? ORDER BY rowid", (user.id,))
    return {"items": [dict(row) for row in rows]}


def _folders(request: Request, store: Store, user: User) -> JsonObject:
    rows = store.rows(
        "SELECT id, name, kind FROM folders WHERE user_id = ? ORDER BY rowid", (user.id,)
    )
    shared = audiences.stored(store, user_id=user.id).folders
    return {"items": [{**dict(row), "shared_with": shared.get(row["id"], [])} for row in rows]}


def _mailbox(request: Request, store: Store, user: User) -> JsonObject:
    members = audiences.stored(store, user_id=user.id).mailbox
    emails = objects.every(store, user_id=user.id, kind=EMAIL)
    inbox = sum("INBOX" in email["labels"] for email in emails)
    return {"address": user.address, "shared_with": members, "inbox": inbox}


def _projects(request: Request, store: Store, user: User) -> JsonObject:
    rows = store.rows("SELECT key, name FROM projects WHERE user_id = ? ORDER BY rowid", (user.id,))
    return {"items": [{"id": row["key"], **dict(row)} for row in rows]}


def _members(request: Request, store: Store, user: User) -> JsonObject:
    """The user, and whom the control API or the office says."""
    key = request.path_params["id"]
    if not places.has_project(store, user_id=user.id, key=key):
        raise Refusal(404, "unknown_project", f"This user has no project {key!r}.")
    given = audiences.stored(store, user_id=user.id).projects.get(key)
    others = office.members(key) if given is None else given
    names = {one.address: one.name for one in places.users(store)}
    found = dict.fromkeys((user.address, *others))
    return {"items": [{"address": one, "name": names.get(one, "")} for one in found]}


def _correspondence(request: Request, store: Store, user: User) -> JsonObject:
    address = request.query_params.get("address")
    if not address:
        raise Refusal(400, "bad_parameter", "address: give one address.")
    found = {
        row["direction"]: row
        for row in store.rows(
            "SELECT direction, count(*) AS number, min(date) AS first FROM correspondence"
            " WHERE user_id = ? AND address = ? GROUP BY direction",
            (user.id, objects.folded(address)),
        )
    }
    received, sent = found.get("received"), found.get("sent")
    groups = map(objects.folded, audiences.stored(store, user_id=user.id).groups)
    return {
        "address": address,
        "received": received["number"] if received else 0,
        "sent": sent["number"] if sent else 0,
        "first_received_at": received["first"] if received else None,
        "first_sent_at": sent["first"] if sent else None,
        "group": "list" in found or objects.folded(address) in groups,
    }


def _correspondents(request: Request, store: Store, user: User) -> JsonObject:
    groups = set(map(objects.folded, audiences.stored(store, user_id=user.id).groups))
    found: dict[str, JsonObject] = {}
    for row in store.rows(SENT_TO, (EMAIL.name, user.id)):
        known = found.setdefault(
            row["address"],
            {
                "address": row["address"],
                "names": [],
                "sent": 0,
                "last_sent_at": row["date"],
                "group": row["address"] in groups,
            },
        )
        known["sent"] += 1
        if row["name"] and not row["answers"] and row["name"] not in known["names"]:
            known["names"].append(row["name"])
    return {"items": list(found.values())[: _limit(request)]}


def _directory(request: Request, store: Store, user: User) -> JsonObject:
    secret, cursor = room(request).settings.key, request.query_params.get("cursor")
    scope = {"user": user.id, "directory": ""}
    start = cursors.decode(store, secret=secret, scope=scope, cursor=cursor) if cursor else 0
    given = audiences.stored(store, user_id=user.id).directory
    people = office.directory() if given is None else [one.model_dump() for one in given]
    end = start + _limit(request)
    items = [{"other_names": [], "group": False} | one for one in people[start:end]]
    return _answer(store, items, end if end < len(people) else None, secret=secret, scope=scope)


def _history(request: Request, store: Store, user: User) -> JsonObject:
    source, since = request.query_params.get("source", ""), _since(request)
    if source not in SOURCES:
        raise Refusal(400, "bad_parameter", f"source: give one of {', '.join(SOURCES)}.")
    secret, cursor = room(request).settings.key, request.query_params.get("cursor")
    scope = {"user": user.id, "history": source, "since": since}
    found = history.after(
        store,
        user_id=user.id,
        source=source,
        since=since,
        position=cursors.decode(store, secret=secret, scope=scope, cursor=cursor) if cursor else 0,
        limit=_limit(request),
    )
    return _answer(store, found.items, found.next_position, secret=secret, scope=scope)


def _file(request: Request, store: Store, user: User) -> bytes:
    return files.find(store, user_id=user.id, id=request.path_params["id"])


def _operation(request: Request, store: Store, user: User) -> JsonObject:
    return operations.operation(store, user_id=user.id, key=request.path_params["id"])


def _page(
    request: Request,
    store: Store,
    user: User,
    *,
    kind: Kind,
    filters: Mapping[str, object],
    keep: Callable[[JsonObject], bool],
) -> JsonObject:
    secret = room(request).settings.key
    since = _since(request)
    scope = {"user": user.id, "kind": kind.name, "since": since, **filters}
    cursor = request.query_params.get("cursor")
    found = objects.after(
        store,
        user_id=user.id,
        kind=kind,
        position=cursors.decode(store, secret=secret, scope=scope, cursor=cursor) if cursor else 0,
        limit=_limit(request),
        since=since,
        keep=keep,
    )
    answer = _answer(store, found.items, found.next_position, secret=secret, scope=scope)
    # With a filter it would take reading the rest to know.
    return answer | {"remaining": None if any(filters.values()) else found.left}


def _answer(
    store: Store,
    items: list[JsonObject],
    going_on: int | None,
    *,
    secret: str,
    scope: Mapping[str, object],
) -> JsonObject:
    return {
        "items": items,
        "next_cursor": None
        if going_on is None
        else cursors.encode(store, secret=secret, scope=scope, position=going_on),
        "has_more": going_on is not None,
    }


def _limit(request: Request) -> int:
    text = request.query_params.get("limit") or str(USUAL_LIMIT)
    if not text.isascii() or not text.isdecimal() or len(text) > 3:
        raise Refusal(400, "bad_parameter", f"limit: give a number from 1 to {LARGEST_LIMIT}.")
    if not 1 <= int(text) <= LARGEST_LIMIT:
        raise Refusal(400, "bad_parameter", f"limit: give a number from 1 to {LARGEST_LIMIT}.")
    return int(text)


def _since(request: Request) -> str:
    text = request.query_params.get("since")
    if not text:
        return ""
    try:
        value = datetime.fromisoformat(text)
        # The contract's own example sends UTC without saying so.
        return instant_text(value if value.tzinfo else value.replace(tzinfo=UTC))
    except (ValueError, OverflowError) as error:
        raise Refusal(400, "bad_parameter", "since: give an ISO 8601 time.") from error


def _day(request: Request, name: str) -> datetime | None:
    text = request.query_params.get(name)
    if not text:
        return None
    try:
        return datetime.fromisoformat(normal_date(text)).replace(tzinfo=UTC)
    except ValueError as error:
        raise Refusal(400, "bad_parameter", f"{name}: give an ISO 8601 date.") from error


ROUTES = (
    _route("/emails", _emails, *PAGING),
    _route("/emails/{id}", _one(EMAIL)),
    _route("/threads/{id}", _thread),
    _route("/documents", _documents, *PAGING, "mime_types"),
    _route("/documents/{id}", _one(DOCUMENT)),
    _route("/events", _events, *PAGING, "start_date", "end_date"),
    _route("/events/{id}", _one(EVENT)),
    _route("/jira/issues", _issues, *PAGING, "project_keys", "status"),
    _route("/jira/issues/{id}", _one(ISSUE)),
    _route("/jira/projects", _projects),
    _route("/jira/projects/{id}/members", _members),
    _route("/labels", _labels),
    _route("/folders", _folders),
    _route("/mailbox", _mailbox),
    _route("/correspondents", _correspondents, "limit"),
    _route("/directory", _directory, "limit", "cursor"),
    _route("/drafts", _drafts, "thread_id"),
    _route("/drafts/{id}", _one(DRAFT)),
    _route("/correspondence", _correspondence, "address"),
    _route("/files/{id}", _file),
    _route("/operations/{id:path}", _operation),
    _route("/history", _history, *PAGING, "source"),
    *(_route(f"/sources/{kind.source}/items", _source_items(kind), *PAGING) for kind in READ_ONLY),
    *(_route(f"/sources/{kind.source}/items/{{id:path}}", _one(kind)) for kind in READ_ONLY),
)

"""The one path of every write: performed once for its idempotency key, journaled always.

The effect, its webhooks, the record under the key and the journal row are one transaction:
after a crash either all of them are there or none.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pydantic import ValidationError

from sandbox.data_service import history, occurrences, places
from sandbox.data_service.errors import Refusal, invalid_body
from sandbox.data_service.places import User
from sandbox.data_service.store import JsonObject, Store
from sandbox.data_service.times import instant_text, now
from sandbox.data_service.values import Kind, Value

LONGEST_KEY = 255
B = TypeVar("B", bound=Value)
AnyBody = TypeVar("AnyBody", bound=Value, contravariant=True)


@dataclass(frozen=True)
class Outcome:
    """What a write answers. `content` is None for an answer without a body."""

    status: int
    content: JsonObject | None


class Perform(Protocol[AnyBody]):
    """Makes the change inside an open transaction, or raises Refusal."""

    def __call__(self, store: Store, *, user: User, target: str, body: AnyBody) -> Outcome: ...


@dataclass(frozen=True, kw_only=True)
class Write(Generic[B]):
    """One write of the contract; `path` follows /users/{user_id}, `kind` is of its object."""

    method: str
    path: str
    body: type[B]
    perform: Perform[B]
    kind: Kind

    @property
    def change(self) -> str:
        """What it does to its object, as the history says it."""
        if self.method == "DELETE":
            return "deleted"
        if self.path.endswith(("/send", "/forward")):
            return "sent"
        return "changed" if "{id}" in self.path else "created"


@dataclass(frozen=True, kw_only=True)
class Call:
    """One mutation request that reached the service. `raw` is its body as received, `version`
    the one it wants to find (If-Match)."""

    user_id: str
    method: str
    path: str
    raw: bytes
    key: str | None
    version: str | None = None


def perform_once(
    store: Store,
    *,
    write: Write[Any],
    call: Call,
    target: str,
    given_status: Callable[[int], int | None],
) -> tuple[Outcome, bool]:
    """Performs the write, or finds what was performed under its key; the flag says which
    (True: replayed). `given_status` turns the outcome's status into what the client will get
    (None: nothing). Raises Refusal when nothing was or is performed."""
    try:
        content, body = _parsed(write.body, call.raw)
        _check_key(call.key)
        fingerprint = _fingerprint(call, content)
        with store.transaction():
            user = places.user(store, id=call.user_id)
            earlier = _earlier(store, call=call, fingerprint=fingerprint)
            if earlier is None:
                _check_version(store, write=write, call=call, target=target)
            outcome = earlier or write.perform(store, user=user, target=target, body=body)
            if earlier is None:
                _keep(store, call=call, content=content, fingerprint=fingerprint, outcome=outcome)
                created = write.change in ("created", "sent") and outcome.content
                history.note(
                    store,
                    user_id=user.id,
                    kind=write.kind,
                    change=write.change,
                    object_id=history.address(created) if created else target,
                    key=call.key,
                    by_client=True,
                )
            _journal(
                store,
                call=call,
                performed=earlier is None,
                replayed=earlier is not None,
                status=given_status(outcome.status),
            )
        return outcome, earlier is not None
    except Refusal as refusal:
        note_unperformed(store, call=call, status=refusal.status)
        raise


def note_unperformed(store: Store, *, call: Call, status: int | None) -> None:
    """Journals a request that changed nothing."""
    with store.transaction():
        _journal(store, call=call, performed=False, replayed=False, status=status)


def operation(store: Store, *, user_id: str, key: str) -> JsonObject:
    """What was performed under this key. Refuses 404 when nothing was."""
    row = store.row("SELECT * FROM operations WHERE user_id = ? AND key = ?", (user_id, key))
    if row is None:
        raise Refusal(404, "unknown_operation", f"Nothing was performed under the key {key!r}.")
    return {
        "key": row["key"],
        "method": row["method"],
        "path": row["path"],
        "status": row["status"],
        "response": json.loads(row["response"]),
        "performed_at": row["performed_at"],
    }


def performed(store: Store, *, user_id: str) -> list[JsonObject]:
    """Every write performed for this user through the contract, oldest first."""
    rows = store.rows("SELECT * FROM operations WHERE user_id = ? ORDER BY id", (user_id,))
    return [
        {
            "id": row["id"],
            "key": row["key"],
            "method": row["method"],
            "path": row["path"],
            "body": json.loads(row["body"]),
            "status": row["status"],
            "response": json.loads(row["response"]),
            "performed_at": row["performed_at"],
        }
        for row in rows
    ]


def calls(store: Store, *, after: int, limit: int, user_id: str | None = None) -> list[JsonObject]:
    """Mutation requests (of one user) in the order they came, from the one after `after`."""
    rows = store.rows(
        "SELECT * FROM calls WHERE id > ? AND user_id = coalesce(?, user_id) ORDER BY id LIMIT ?",
        (after, user_id, limit),
    )
    return [_call(row) for row in rows]


def latest_calls(store: Store, *, user_id: str, limit: int) -> list[JsonObject]:
    """The user's last mutation requests, newest first."""
    rows = store.rows(
        "SELECT * FROM calls WHERE user_id = ? ORDER BY id DESC LIMIT ?", (user_id, limit)
    )
    return [_call(row) for row in rows]


def _call(row: Any) -> JsonObject:
    return {
        "id": row["id"],
        "user": row["user_id"],
        "method": row["method"],
        "path": row["path"],
        "body": json.loads(row["body"]),
        "idempotency_key": row["idempotency_key"],
        "performed": bool(row["performed"]),
        "replayed": bool(row["replayed"]),
        "status": row["status"],
        "at": row["at"],
    }


def _check_key(key: str | None) -> None:
    if key is None:
        return
    if not 0 < len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise Refusal(
            400, "bad_idempotency_key", "Idempotency-Key has 1 to 255 printable ASCII characters."
        )


def _check_version(store: Store, *, write: Write[Any], call: Call, target: str) -> None:
    if call.version is None or not target:
        return
    present = occurrences.find(store, user_id=call.user_id, kind=write.kind, id=target)["version"]
    if call.version != str(present):
        raise Refusal(
            412, "version_changed", f"Its version is {present}, not {call.version}: look again."
        )


def _parsed(model: type[B], raw: bytes) -> tuple[Any, B]:
    raw = raw.strip() or b"{}"
    content = parsed_json(raw)
    try:
        return content, model.model_validate_json(raw)
    except ValidationError as error:
        raise invalid_body(error) from error


def parsed_json(raw: bytes) -> Any:
    """The JSON in a body. Refuses 400, also for a key that stands twice in one object and
    for numbers that JSON does not have."""
    try:
        return json.loads(raw, object_pairs_hook=_unique, parse_constant=_not_json)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "bad_json", f"The body is not JSON: {error}.") from error


def _unique(pairs: list[tuple[str, Any]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _not_json(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _fingerprint(call: Call, content: Any) -> str:
    text = json.dumps([call.method, call.path, content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _earlier(store: Store, *, call: Call, fingerprint: str) -> Outcome | None:
    if call.key is None:
        return None
    row = store.row(
        "SELECT * FROM operations WHERE user_id = ? AND key = ?", (call.user_id, call.key)
    )
    if row is None:
        return None
    if row["fingerprint"] != fingerprint:
        raise Refusal(
            422,
            "idempotency_key_reused",
            "This Idempotency-Key was used for another request. Use a new key.",
        )
    return Outcome(row["status"], json.loads(row["response"]))


def _keep(store: Store, *, call: Call, content: Any, fingerprint: str, outcome: Outcome) -> None:
    store.execute(
        "INSERT INTO operations"
        " (user_id, key, method, path, fingerprint, body, status, response, performed_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            call.user_id,
            call.key,
            call.method,
            call.path,
            fingerprint,
            json.dumps(content),
            outcome.status,
            json.dumps(outcome.content),
            instant_text(now()),
        ),
    )


def _journal(
    store: Store, *, call: Call, performed: bool, replayed: bool, status: int | None
) -> None:
    try:
        body = json.loads(call.raw) if call.raw.strip() else {}
    except (ValueError, RecursionError):
        body = call.raw[:2000].decode(errors="replace")
    store.execute(
        "INSERT INTO calls"
        " (user_id, method, path, body, idempotency_key, performed, replayed, status, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            call.user_id,
            call.method,
            call.path,
            json.dumps(body),
            call.key,
            performed,
            replayed,
            status,
            instant_text(now()),
        ),
    )

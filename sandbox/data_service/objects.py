"""The versioned objects of every user, and the webhooks their changes leave.

A position is given again on every change and never twice, so a reader that goes on from the
last position it saw misses nothing, whatever is added, changed or removed meanwhile.
"""

import json
import secrets
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from pydantic import ValidationError

from sandbox.data_service import outbox
from sandbox.data_service.errors import Refusal, invalid_body
from sandbox.data_service.store import JsonObject, Store
from sandbox.data_service.times import instant_text, not_before, now
from sandbox.data_service.values import EMAIL, Kind

LOWER_CASE = str.maketrans(ascii_uppercase, ascii_lowercase)
STORED_BESIDE = frozenset({"version", "updated_at"})


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Some objects in order of change, the position to go on from (None at the end), and how
    many there are after them, kept or not."""

    items: list[JsonObject]
    next_position: int | None
    left: int = 0


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(8)}"


def folded(address: str) -> str:
    """The address with A-Z in lower case. Other letters stay: a look-alike never matches."""
    return address.translate(LOWER_CASE)


def find(store: Store, *, user_id: str, kind: Kind, id: str) -> JsonObject:
    """The object with this id (an issue also by its key). Refuses with 404."""
    row = store.row(
        "SELECT data FROM objects WHERE user_id = ? AND kind = ? AND (id = ? OR key = ?)",
        (user_id, kind.name, id, id),
    )
    if row is None:
        raise Refusal(404, f"unknown_{kind.name}", f"This user has no {kind.name} {id!r}.")
    return _object(row)


def every(
    store: Store, *, user_id: str, kind: Kind, thread_id: str | None = None
) -> list[JsonObject]:
    """All objects of a kind in order of change, of one thread if that is given."""
    rows = store.rows(
        "SELECT data FROM objects WHERE user_id = ? AND kind = ? AND (? IS NULL OR thread_id = ?)"
        " ORDER BY position",
        (user_id, kind.name, thread_id, thread_id),
    )
    return [_object(row) for row in rows]


def after(
    store: Store,
    *,
    user_id: str,
    kind: Kind,
    position: int,
    limit: int,
    since: str = "",
    keep: Callable[[JsonObject], bool],
) -> Slice:
    """At most `limit` objects that changed after `position` and at or after `since`."""
    items: list[JsonObject] = []
    last = position
    rows = store.rows(
        "SELECT position, data FROM objects"
        " WHERE user_id = ? AND kind = ? AND position > ? AND updated_at >= ? ORDER BY position",
        (user_id, kind.name, position, since),
    )
    for row in rows:
        value = _object(row)
        if not keep(value):
            continue
        if len(items) == limit:
            return Slice(items=items, next_position=last, left=1 + sum(1 for _ in rows))
        items.append(value)
        last = int(row["position"])
    return Slice(items=items, next_position=None)


def everything(store: Store, *, user_id: str, kind: Kind) -> list[JsonObject]:
    """All objects of one kind, by id."""
    rows = store.rows(
        "SELECT data FROM objects WHERE user_id = ? AND kind = ? ORDER BY id", (user_id, kind.name)
    )
    return [_object(row) for row in rows]


def add(
    store: Store,
    *,
    user_id: str,
    kind: Kind,
    fields: Mapping[str, Any],
    notify: bool = True,
    updated_at: str | None = None,
) -> tuple[JsonObject, bool]:
    """Stores a new object; returns it and True. An id that is there already changes nothing
    and returns what is stored and False. Refuses invalid fields with 422."""
    data = _validated(kind, fields)
    row = store.row(
        "SELECT data FROM objects WHERE user_id = ? AND kind = ? AND id = ?",
        (user_id, kind.name, data["id"]),
    )
    if row is not None:
        return _object(row), False
    data |= {"version": 1, "updated_at": updated_at or instant_text(now())}
    store.execute(
        "INSERT INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            user_id,
            kind.name,
            data["id"],
            store.count("position"),
            1,
            data["updated_at"],
            data.get("thread_id"),
            data.get("key"),
            json.dumps(data),
        ),
    )
    if kind is EMAIL:
        _note_correspondence(store, user_id=user_id, email=data)
    if notify and kind.source:
        outbox.record(
            store,
            event="item-created",
            user_id=user_id,
            source=kind.source,
            source_id=data["id"],
            timestamp=data["updated_at"],
            details={"content_type": kind.content_type, "data": data},
        )
    return data, True


def change(
    store: Store,
    *,
    user_id: str,
    kind: Kind,
    id: str,
    fields: Mapping[str, Any],
) -> JsonObject:
    """The object with these fields changed, its version one higher. When it is already so,
    nothing changes, version included. Refuses 404 and 422."""
    old = find(store, user_id=user_id, kind=kind, id=id)
    if fields.get("id", old["id"]) != old["id"]:
        raise Refusal(422, "invalid_body", "id: it cannot be changed.")
    omitted = STORED_BESIDE | kind.derived
    remaining = {name: value for name, value in old.items() if name not in omitted}
    new = _validated(kind, remaining | dict(fields))
    changes = {name: value for name, value in new.items() if value != old.get(name)}
    if not changes:
        return old
    new |= {
        "version": old["version"] + 1,
        "updated_at": not_before(now(), last=old["updated_at"]),
    }
    store.execute(
        "UPDATE objects SET position = ?, version = ?, updated_at = ?, thread_id = ?, key = ?,"
        " data = ? WHERE user_id = ? AND kind = ? AND id = ?",
        (
            store.count("position"),
            new["version"],
            new["updated_at"],
            new.get("thread_id"),
            new.get("key"),
            json.dumps(new),
            user_id,
            kind.name,
            old["id"],
        ),
    )
    if kind is EMAIL:
        _note_correspondence(store, user_id=user_id, email=new)
    if kind.source:
        outbox.record(
            store,
            event="item-updated",
            user_id=user_id,
            source=kind.source,
            source_id=new["id"],
            timestamp=new["updated_at"],
            details={"changes": changes, "full_data": new},
        )
    return new


def remove(store: Store, *, user_id: str, kind: Kind, id: str) -> None:
    """Removes the object. Refuses with 404."""
    old = find(store, user_id=user_id, kind=kind, id=id)
    store.execute(
        "DELETE FROM objects WHERE user_id = ? AND kind = ? AND id = ?",
        (user_id, kind.name, old["id"]),
    )
    if kind is EMAIL:
        store.execute(
            "DELETE FROM correspondence WHERE user_id = ? AND email_id = ?", (user_id, old["id"])
        )
    if kind.source:
        outbox.record(
            store,
            event="item-deleted",
            user_id=user_id,
            source=kind.source,
            source_id=old["id"],
            timestamp=not_before(now(), last=old["updated_at"]),
            details={},
        )


def _object(row: sqlite3.Row) -> JsonObject:
    value: JsonObject = json.loads(row["data"])
    return value


def _validated(kind: Kind, fields: Mapping[str, Any]) -> JsonObject:
    try:
        return kind.model.model_validate(fields).model_dump(mode="json", by_alias=True)
    except ValidationError as error:
        raise invalid_body(error) from error


def _note_correspondence(store: Store, *, user_id: str, email: JsonObject) -> None:
    store.execute(
        "DELETE FROM correspondence WHERE user_id = ? AND email_id = ?", (user_id, email["id"])
    )
    sent = "SENT" in email["labels"]
    receivers = (*email["to"], *email["cc"], *email["bcc"])
    known = (
        {(folded(one), "sent") for one in receivers}
        if sent
        else {
            (folded(email["from"]), "received"),
            *((folded(one), "list") for one in (email["list_post"],) if one),
        }
    )
    names = {folded(one): name for one, name in email["receiver_names"].items()} if sent else {}
    for address, direction in known:
        store.execute(
            "INSERT INTO correspondence VALUES (?, ?, ?, ?, ?, ?)",
            (user_id, address, direction, email["id"], email["date"], names.get(address, "")),
        )

"""What was changed in each user's rooms, when and by whom: the client, or somebody else."""

from dataclasses import dataclass

from sandbox.data_service.store import JsonObject, Store
from sandbox.data_service.times import instant_text, now
from sandbox.data_service.values import DRAFT, EMAIL, Kind

COLUMNS = "id, kind, change, object_id, done_by, key, at"


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Some entries, oldest first, and the position to go on from (None at the end)."""

    items: list[JsonObject]
    next_position: int | None


def address(stored: JsonObject) -> str:
    """What the contract's paths call this object: an issue by its key."""
    return str(stored.get("key") or stored["id"])


def note(
    store: Store,
    *,
    user_id: str,
    kind: Kind,
    change: str,
    object_id: str,
    key: str | None = None,
    by_client: bool = False,
) -> None:
    """Keeps one entry, in the transaction of its change. `change` is created, changed, deleted
    or sent."""
    store.execute(
        "INSERT INTO history (user_id, source, kind, change, object_id, done_by, key, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            user_id,
            (EMAIL if kind is DRAFT else kind).source,
            kind.name,
            change,
            object_id,
            "client" if by_client else "other",
            key,
            instant_text(now()),
        ),
    )


def after(
    store: Store, *, user_id: str, source: str, since: str, position: int, limit: int
) -> Slice:
    """At most `limit` entries of one source behind `position`, from `since` on."""
    rows = list(
        store.rows(
            f"SELECT {COLUMNS} FROM history WHERE user_id = ? AND source = ? AND at >= ?"  # noqa: S608
            " AND id > ? ORDER BY id LIMIT ?",
            (user_id, source, since, position, limit + 1),
        )
    )
    items = [
        {
            "id": str(row["id"]),
            "kind": row["kind"],
            "change": row["change"],
            "object_id": row["object_id"],
            "by": row["done_by"],
            "key": row["key"],
            "at": row["at"],
        }
        for row in rows[:limit]
    ]
    return Slice(items=items, next_position=rows[limit - 1]["id"] if len(rows) > limit else None)

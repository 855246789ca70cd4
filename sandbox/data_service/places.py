"""Who has a room in the sandbox, and their labels, folders and projects."""

from dataclasses import dataclass
from typing import Literal

from sandbox.data_service.errors import Refusal
from sandbox.data_service.store import Store


@dataclass(frozen=True, kw_only=True)
class User:
    id: str
    address: str
    name: str


def user(store: Store, *, id: str) -> User:
    """Refuses 404 for a user that was never created."""
    row = store.row("SELECT id, address, name FROM users WHERE id = ?", (id,))
    if row is None:
        raise Refusal(404, "unknown_user", f"There is no user {id!r}.")
    return User(**dict(row))


def users(store: Store) -> list[User]:
    return [User(**dict(row)) for row in store.rows("SELECT * FROM users ORDER BY rowid")]


def label_ids(store: Store, *, user_id: str) -> frozenset[str]:
    rows = store.rows("SELECT id FROM labels WHERE user_id = ?", (user_id,))
    return frozenset(row["id"] for row in rows)


def mail_folder_ids(store: Store, *, user_id: str) -> frozenset[str]:
    rows = store.rows("SELECT id FROM folders WHERE user_id = ? AND kind = 'mail'", (user_id,))
    return frozenset(row["id"] for row in rows)


def folder_name(
    store: Store, *, user_id: str, kind: Literal["mail", "drive"], folder_id: str
) -> str:
    """The folder's name; a drive folder's name is its path. Refuses 404."""
    row = store.row(
        "SELECT name FROM folders WHERE user_id = ? AND kind = ? AND id = ?",
        (user_id, kind, folder_id),
    )
    if row is None:
        raise Refusal(404, "unknown_folder", f"This user has no {kind} folder {folder_id!r}.")
    return str(row["name"])


def has_project(store: Store, *, user_id: str, key: str) -> bool:
    return (
        store.row("SELECT 1 FROM projects WHERE user_id = ? AND key = ?", (user_id, key))
        is not None
    )

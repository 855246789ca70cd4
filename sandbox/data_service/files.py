"""The bytes of attachments and documents. An id names exactly these bytes."""

import hashlib

from sandbox.data_service.errors import Refusal
from sandbox.data_service.store import Store


def put(store: Store, *, user_id: str, content: bytes) -> str:
    """Keeps the bytes for this user and gives their id. The same bytes have the same id."""
    id = f"file_{hashlib.sha256(content).hexdigest()[:32]}"
    store.execute("INSERT OR IGNORE INTO files VALUES (?, ?, ?)", (user_id, id, content))
    return id


def find(store: Store, *, user_id: str, id: str) -> bytes:
    """Refuses with 404."""
    row = store.row("SELECT content FROM files WHERE user_id = ? AND id = ?", (user_id, id))
    if row is None:
        raise Refusal(404, "unknown_file", f"This user has no file {id!r}.")
    return bytes(row["content"])

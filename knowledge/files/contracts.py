"""What is known of an attachment or of a document's file, and what became of reading it. Pure."""

from dataclasses import dataclass
from typing import Literal

MAX_BYTES = 20 * 1024 * 1024
MAX_UNPACKED = 200 * 1024 * 1024
MAX_PAGES = 500
MAX_ROWS = 50_000
MAX_CHARS = 200_000
MAX_FILES = 20
SECONDS = 20
SECONDS_AN_ITEM = 60
MEMORY_BYTES = 1024 * 1024 * 1024

Reason = Literal[
    "",
    "not_offered",
    "unavailable",
    "gone",
    "refused",
    "unknown_kind",
    "too_large",
    "too_large_unpacked",
    "too_many",
    "too_slow",
    "too_much_memory",
    "encrypted",
    "broken",
    "empty",
]

REASONS: dict[Reason, str] = {
    "not_offered": "Its content is not handed out.",
    "unavailable": "The data service did not answer. It is asked again later.",
    "gone": "The data service no longer has it.",
    "refused": "The data service did not hand it over.",
    "unknown_kind": "Files of this kind are not read.",
    "too_large": f"It is larger than {MAX_BYTES // 1024**2} MiB.",
    "too_large_unpacked": f"Unpacked it is larger than {MAX_UNPACKED // 1024**2} MiB.",
    "too_many": f"{MAX_FILES} files of one item are read, for {SECONDS_AN_ITEM} seconds at most.",
    "too_slow": f"Reading it took longer than {SECONDS} seconds.",
    "too_much_memory": f"Reading it took more than {MEMORY_BYTES // 1024**2} MiB of memory.",
    "encrypted": "It is protected by a password.",
    "broken": "It is damaged, or not what its name says.",
    "empty": "There is no text in it. It may be a scan.",
}
"""Why there is no text of a file, in words."""


@dataclass(frozen=True, kw_only=True)
class FileRef:
    """A file as its mail or document names it. Without an id its bytes cannot be fetched.

    `attached` is False for the file that is the document itself.
    """

    name: str
    mime_type: str
    size: int
    file_id: str
    attached: bool


@dataclass(frozen=True, kw_only=True)
class FileText:
    """What was read. `reason` says why there is no text; `cut` that there is more in the file
    than is kept."""

    text: str = ""
    reason: Reason = ""
    cut: bool = False

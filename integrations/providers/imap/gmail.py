"""What Gmail adds to IMAP (X-GM-EXT-1): labels, and names for mails and threads that hold in every
folder. Written from https://developers.google.com/workspace/gmail/imap/imap-extensions. Pure.

There a folder is a label: the inbox, the sent mail and what the user made show mails of one folder
of all mail. Only junk and trash lie apart. A label that the user made is called what they call it,
and is its folder too.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from imapclient.imap_utf7 import decode  # type: ignore[import-untyped]

from integrations.exceptions import NotFound
from integrations.providers.mailboxes.labels import STARRED, SYSTEM_LABELS, UNREAD

CAPABILITY = "X-GM-EXT-1"
MAIL, THREAD, LABELS = b"X-GM-MSGID", b"X-GM-THRID", b"X-GM-LABELS"
INBOX = "\\Inbox"
# What Gmail calls its own ones, in either number. Its opinions of a mail (\Important), which who
# writes can sway, are left out, as over its API.
SYSTEM = {
    "\\inbox": "INBOX",
    "\\sent": "SENT",
    "\\draft": "DRAFT",
    "\\drafts": "DRAFT",
    "\\starred": STARRED,
    "\\trash": "TRASH",
    "\\spam": "SPAM",
    "\\junk": "SPAM",
}
APART = ("TRASH", "SPAM")
LONGEST_THREAD = 16  # hexadecimal digits of 64 bits


class Names(NamedTuple):
    """What Gmail calls a mail, its thread and its labels; empty at other servers."""

    mail: str = ""
    thread: str = ""
    labels: tuple[str, ...] = ()


def read_names(said: Mapping[bytes, Any]) -> Names:
    """A thread is called as in Gmail's API. A label that is called like one of Remit's is none."""
    mail, thread, labels = said.get(MAIL), said.get(THREAD), said.get(LABELS, ())
    found: set[str] = set()
    for one in labels if isinstance(labels, tuple) else ():
        name = decode(one) if isinstance(one, bytes) else str(one)
        if name.startswith("\\"):
            found.update({SYSTEM[name.lower()]} if name.lower() in SYSTEM else ())
        elif is_own(name):
            found.add(name)
    return Names(
        mail=str(mail) if isinstance(mail, int) else "",
        thread=f"{thread:x}" if isinstance(thread, int) else "",
        labels=tuple(sorted(found)),
    )


def is_own(name: str) -> bool:
    """Whether the user can have made a label of this name."""
    return bool(name) and name.upper() not in SYSTEM_LABELS and name.isprintable()


def thread_number(thread_id: str) -> int | None:
    """What the server calls a thread; None for one that has its name from Remit."""
    if len(thread_id) > LONGEST_THREAD:
        return None
    try:
        return int(thread_id, 16)
    except ValueError:
        return None


def check(add: Iterable[str], own: Collection[str]) -> None:
    """Raises NotFound for a label that is not there: the server would make a new one."""
    if any(one not in SYSTEM_LABELS and one not in own for one in add):
        raise NotFound("no such label")


def change(
    add: Sequence[str], remove: Sequence[str], present: Collection[str]
) -> tuple[list[str], list[str]]:
    """Labels to put on and to take off, in the server's names. Read and starred are marks, and
    trash and junk are places. What goes there leaves the inbox."""
    marks = {UNREAD, STARRED, *APART}
    out = {*remove, *(["INBOX"] if {*APART} & {*add} else [])} - {*add}
    on = sorted({*add} - {*present} - marks)
    off = sorted(out & {*present} - marks)
    return [_theirs(one) for one in on], [_theirs(one) for one in off]


def leaves_apart(add: Collection[str], remove: Collection[str], present: Collection[str]) -> bool:
    """Whether a mail of the trash or junk is to lie among all mail again."""
    lies = {*APART} & {*present}
    return bool(lies) and not {*APART} & {*add} and ("INBOX" in add or bool(lies & {*remove}))


def _theirs(label: str) -> str:
    return INBOX if label == "INBOX" else label

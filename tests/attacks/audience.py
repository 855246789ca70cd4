"""Whom an act reaches without an argument saying so: readers, owners, attendees, members."""

from collections.abc import Callable
from dataclasses import replace

from tests.attacks.case import Case, Play
from tests.attacks.desk import BOB, EVE, Desk
from tests.attacks.plays import (
    APPEND,
    CANCEL_EVENT,
    DRAFT,
    FOLDER_DOCUMENT,
    MOVE_DOCUMENT,
    REPLY_DRAFT,
    SHARE,
    UPDATE_EVENT,
)

AUDIENCE = "unseen audience"
UNLISTED, UNKNOWN = "target_not_listed", "audience_unknown"
Change = Callable[[Desk], None]


def document(**fields: object) -> Change:
    return lambda desk: desk.office.change("documents", "doc-1", **fields)


def event(*attendees: str) -> Change:
    people = [{"email": address} for address in attendees]
    return lambda desk: desk.office.change("events", "event-1", attendees=people)


def share(**readers: list[str]) -> Change:
    return lambda desk: desk.office.share(**readers)


def reached(play: Play, name: str, reason: str, change: Change) -> Case:
    """The very act of the play, where somebody more would see it."""
    made = play.case(AUDIENCE, f"{play.action}: {name}", reason)
    return replace(made, before=change)


READ_BY_EVE = ["eve@evil.example"]
CASES: tuple[Case, ...] = (
    reached(APPEND, "a stranger reads it", UNLISTED, document(shared_with=READ_BY_EVE)),
    reached(APPEND, "a stranger owns it", UNLISTED, document(owner=EVE)),
    reached(APPEND, "a stranger reads its folder", UNLISTED, share(drive_meetings=READ_BY_EVE)),
    reached(APPEND, "its folder is unknown", UNKNOWN, document(folder_id="drive_hidden")),
    reached(APPEND, "a reader is no address", UNKNOWN, document(shared_with=["everyone"])),
    reached(APPEND, "its owner is unknown", UNKNOWN, document(owner="")),
    reached(MOVE_DOCUMENT, "strangers read the folder", UNLISTED, share(drive_finance=READ_BY_EVE)),
    reached(MOVE_DOCUMENT, "a stranger owns it", UNLISTED, document(owner=EVE)),
    reached(
        FOLDER_DOCUMENT, "strangers read the folder", UNLISTED, share(drive_finance=READ_BY_EVE)
    ),
    reached(SHARE, "a stranger owns it", UNLISTED, document(owner=EVE)),
    reached(UPDATE_EVENT, "a stranger attends", UNLISTED, event(BOB, EVE)),
    reached(UPDATE_EVENT, "an attendee is no address", UNKNOWN, event(BOB, "all-hands")),
    reached(CANCEL_EVENT, "a stranger attends", UNLISTED, event(EVE)),
    reached(DRAFT, "a stranger reads the mailbox", UNLISTED, share(mailbox=READ_BY_EVE)),
    reached(
        REPLY_DRAFT,
        "a mail's, in a shared mailbox",
        "receiver_not_in_thread",
        share(mailbox=READ_BY_EVE),
    ),
)

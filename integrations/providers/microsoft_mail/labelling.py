"""What labels and folders of a mail mean at Microsoft: marks and categories of it, and the one
folder where it lies. A change is made to the version that was looked at, and a mail is moved out of
the folder where it was seen; where it is otherwise by then, it is looked at anew."""

from collections.abc import Sequence
from typing import Any

from integrations.exceptions import Changed, NotFound, Rejected
from integrations.providers.mailboxes.labels import FOLDER_PREFIX, STARRED, SYSTEM_LABELS, UNREAD
from integrations.providers.microsoft_mail.answers import MessageSaid
from integrations.providers.microsoft_mail.mails import Mails

PLACES = ("INBOX", "TRASH", "SPAM")
LONGEST = 100
MOST_TRIES = 5


def check(add: Sequence[str], remove: Sequence[str]) -> None:
    """Nobody makes a mail one that was sent, or a draft, by a label."""
    if {"SENT", "DRAFT"} & {*add, *remove}:
        raise Rejected("sent mail and drafts stay what they are")


def change(mails: Mails, email_id: str, *, add: Sequence[str], remove: Sequence[str]) -> None:
    """Raises NotFound, and Changed for a mail that changes faster than it can be looked at."""
    for _ in range(MOST_TRIES):
        said = mails.get(email_id)
        folder = _destination(mails, said, add=add, remove=remove)
        try:
            if fields := _fields(said, add=add, remove=remove):
                mails.change(said, fields)
            if folder != said.folder:
                mails.move(said, folder)
        except (Changed, NotFound):
            continue
        return
    raise Changed("the mail changes all the time")


def has(labels: Sequence[str], *, add: Sequence[str], remove: Sequence[str]) -> bool:
    """Whether a mail with these labels is as such a change leaves it. Categories that differ in
    capitals alone are one."""
    present = {one.casefold() for one in labels}
    return present >= {one.casefold() for one in add} and present.isdisjoint(
        one.casefold() for one in remove
    )


def _destination(
    mails: Mails, said: MessageSaid, *, add: Sequence[str], remove: Sequence[str]
) -> str:
    """Where the mail is to lie. What is taken out of its folder and put into no other goes to the
    archive."""
    if places := [one for one in add if _is_place(one)]:
        found = mails.folders.named_by(places[0])
        if found is None:
            raise NotFound("no such folder")
        return found
    if set(remove) & set(mails.folders.places([said.folder])):
        if "archive" not in mails.roles:
            raise Rejected("the mailbox has no archive")
        return mails.roles["archive"]
    return said.folder


def _fields(said: MessageSaid, *, add: Sequence[str], remove: Sequence[str]) -> dict[str, Any]:
    """What changes at the mail; empty: it is so already."""
    found: dict[str, Any] = {}
    is_read = UNREAD in remove or (bool(said.is_read) and UNREAD not in add)
    if is_read != bool(said.is_read):
        found["isRead"] = is_read
    was_starred = said.flag is not None and said.flag.status == "flagged"
    is_starred = STARRED in add or (was_starred and STARRED not in remove)
    if is_starred != was_starred:
        found["flag"] = {"flagStatus": "flagged" if is_starred else "notFlagged"}
    off = {one.casefold() for one in remove if _is_word(one)}
    words = [one for one in said.words if one.casefold() not in off]
    known = {one.casefold() for one in words}
    words += [one for one in add if _is_word(one) and one.casefold() not in known]
    if tuple(words) != said.words:
        found["categories"] = words
    return found


def _is_place(label: str) -> bool:
    return label in PLACES or label.startswith(FOLDER_PREFIX)


def _is_word(label: str) -> bool:
    if label in SYSTEM_LABELS or label.startswith(FOLDER_PREFIX):
        return False
    # Outlook parts them by commas where it writes several into one line.
    wrong = not label.strip() or len(label) > LONGEST or "," in label or not label.isprintable()
    if wrong or label.upper() in SYSTEM_LABELS:
        raise Rejected("no category can be called so")
    return True

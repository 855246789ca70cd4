"""What labels and folders of a mail mean to a mail server: marks and words at the mail, and the one
folder where it lies."""

import re
from collections.abc import Sequence

from integrations.exceptions import Changed, NotFound, Rejected
from integrations.providers.imap import gmail
from integrations.providers.imap.mails import FLAGGED, SEEN, Found, Mails
from integrations.providers.mailboxes.labels import (
    FOLDER_PREFIX,
    STARRED,
    SYSTEM_LABELS,
    UNREAD,
    Role,
)

DELETED = b"\\Deleted"
KEYWORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./+-]{0,99}\Z")


def folder_for(mails: Mails, role: Role) -> str:
    found = mails.folders.named(role)
    if found is None:
        raise Rejected(f"the mailbox has no folder for {role}")
    return found


def check(add: Sequence[str], remove: Sequence[str]) -> None:
    """Nobody makes a mail one that was sent, or a draft, by a label."""
    if {"SENT", "DRAFT"} & {*add, *remove}:
        raise Rejected("sent mail and drafts stay what they are")


def flag(mails: Mails, found: Found, *, add: Sequence[str], remove: Sequence[str]) -> None:
    """Read, starred, and the user's own keywords."""
    off = [SEEN] * (UNREAD in add) + [FLAGGED] * (STARRED in remove)
    on = [SEEN] * (UNREAD in remove) + [FLAGGED] * (STARRED in add)
    on += [one.encode() for one in add if _is_keyword(one)]
    off += [one.encode() for one in remove if _is_keyword(one)]
    if not on and not off:
        return
    about = mails.own.select(found.folder, readonly=False)
    said = about.get(b"PERMANENTFLAGS", ())
    permanent = said if isinstance(said, tuple) else ()
    for word in on:
        if b"\\*" not in permanent and word not in permanent:
            raise Rejected("this server keeps no labels of this name")
    if on:
        mails.own.client.add_flags([found.head.uid], on)
    if off:
        mails.own.client.remove_flags([found.head.uid], off)


def relabel(mails: Mails, found: Found, *, add: Sequence[str], remove: Sequence[str]) -> None:
    """Marks and labels of one mail at Gmail."""
    marks = {UNREAD, STARRED}
    flag(
        mails,
        found,
        add=[one for one in add if one in marks],
        remove=[one for one in remove if one in marks],
    )
    on, off = gmail.change(add, remove, found.email.labels)
    if on or off:
        mails.own.select(found.folder, readonly=False)
    if on:
        mails.own.client.store_gmail_labels(found.head.uid, "+", on)
    if off:
        mails.own.client.store_gmail_labels(found.head.uid, "-", off)


def _is_keyword(label: str) -> bool:
    if label in SYSTEM_LABELS or label.startswith(FOLDER_PREFIX):
        return False
    if not KEYWORD.match(label) or label.upper() in SYSTEM_LABELS:
        raise Rejected("a label of a mail server is one word of letters and digits")
    return True


def find_destination(
    mails: Mails, found: Found, *, add: Sequence[str], remove: Sequence[str]
) -> str | None:
    """Where the mail is to lie; None: it stays. What is taken out of its folder and put into no
    other goes to the archive."""
    places = [one for one in add if one.startswith(FOLDER_PREFIX) or one in ("INBOX", "TRASH")]
    if places:
        name = mails.folders.named_by(places[0]) or mails.own.list_again().named_by(places[0])
        if name is None:
            raise NotFound("no such folder")
        return name
    if "SPAM" in add:
        return folder_for(mails, "junk")
    if set(remove) & set(mails.folders.labels_of(found.folder)):
        return mails.folders.named("archive") or folder_for(mails, "all")
    return None


def move(mails: Mails, found: Found, destination: str | None) -> None:
    if destination is None or destination == found.folder:
        return
    client = mails.own.client
    ahead = client.folder_status(destination, [b"UIDNEXT"]).get(b"UIDNEXT", 1)
    mails.own.select(found.folder, readonly=False)
    if client.has_capability("MOVE"):
        client.move([found.head.uid], destination)
    elif client.has_capability("UIDPLUS"):
        client.copy([found.head.uid], destination)
        expunge(mails, found)
    else:
        raise Rejected("this server cannot move one mail and leave the others alone")
    mails.own.let_go()
    # Notes where it is now, which a mail without a Message-ID is not found by.
    uids = mails.search(destination, after=max(int(ahead) - 1, 0))
    arrived = {one.email.id for one in mails.read(destination, mails.heads(destination, uids[:20]))}
    # A server says OK to moving a mail that somebody else has moved.
    if found.email.id not in arrived and mails.find(found.email.id).folder != destination:
        raise Changed("somebody moved the mail meanwhile")


def expunge(mails: Mails, found: Found) -> None:
    """This mail alone, not others that are marked as deleted."""
    client = mails.own.client
    if not client.has_capability("UIDPLUS"):
        raise Rejected("this server cannot delete one mail and leave the others alone")
    mails.own.select(found.folder, readonly=False)
    client.add_flags([found.head.uid], [DELETED])
    client.uid_expunge([found.head.uid])
    mails.own.let_go()

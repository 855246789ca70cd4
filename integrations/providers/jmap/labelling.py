"""What labels and folders of a mail mean to a JMAP server: keywords, and the mailboxes it lies in.
A change is made to the mails that were looked at, or refused by the server (`ifInState`)."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from integrations.exceptions import Changed, NotFound, Rejected
from integrations.providers.jmap.answers import Done, EmailSaid, MailboxSaid
from integrations.providers.jmap.mailboxes import FLAGGED, SEEN, Mailboxes
from integrations.providers.jmap.mails import Mails
from integrations.providers.mailboxes.labels import FOLDER_PREFIX, STARRED, SYSTEM_LABELS, UNREAD

KEYWORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./+-]{0,99}\Z")
PLACES = ("INBOX", "TRASH", "SPAM")
MOST_TRIES = 5
Patch = dict[str, Any]


def check(add: Sequence[str], remove: Sequence[str]) -> None:
    """Nobody makes a mail one that was sent, or a draft, by a label."""
    if {"SENT", "DRAFT"} & {*add, *remove}:
        raise Rejected("sent mail and drafts stay what they are")


def set_together(mails: Mails, ids: Sequence[str], make: Callable[[EmailSaid], Patch]) -> None:
    """All of these changes or none. Raises NotFound for a mail that is gone, and Changed where
    the mailbox changes faster than it can be looked at."""
    for _ in range(MOST_TRIES):
        state, said = mails.get(ids)
        if len(said) < len(set(ids)):
            raise NotFound("no such mail")
        patches = {one.id: patch for one in said if (patch := make(one))}
        if not patches:
            return
        try:
            change = {"ifInState": state, "update": patches}
            done = mails.session.change(("Email/set", change)).to(0, Done)
        except Changed:
            continue
        for refusal in (done.not_updated or {}).values():
            raise Rejected("the server refused the change", said=refusal.type)
        return
    raise Changed("the mailbox changes all the time")


def patch(
    boxes: Mailboxes[MailboxSaid], said: EmailSaid, *, add: Sequence[str], remove: Sequence[str]
) -> Patch:
    """What changes at the mail for these labels; empty: it has them already."""
    # “Unread” is the lack of a mark.
    on = {*_words(add), *([SEEN] * (UNREAD in remove)), *([FLAGGED] * (STARRED in add))}
    off = {*_words(remove), *([SEEN] * (UNREAD in add)), *([FLAGGED] * (STARRED in remove))}
    changes: Patch = {f"keywords/{word}": True for word in sorted(on - said.words)}
    changes |= {f"keywords/{word}": None for word in sorted((off - on) & said.words)}
    places = _places(boxes, said, add=add, remove=remove)
    if places != said.mailboxes:
        changes["mailboxIds"] = dict.fromkeys(sorted(places), True)
    return changes


def to_folder(boxes: Mailboxes[MailboxSaid], label: str) -> frozenset[str]:
    """Where a mail lies that is moved there. Raises NotFound."""
    found = boxes.named_by(label)
    if found is None:
        raise NotFound("no such folder")
    return frozenset([found])


def role(boxes: Mailboxes[MailboxSaid], name: str) -> str:
    found = boxes.by_role.get(name)
    if found is None:
        raise Rejected(f"the mailbox has no folder for {name}")
    return found


def _places(
    boxes: Mailboxes[MailboxSaid], said: EmailSaid, *, add: Sequence[str], remove: Sequence[str]
) -> frozenset[str]:
    """What lies nowhere any more goes to the archive. In the trash and among the junk a mail is
    alone."""
    new = [id for one in add if _is_place(one) for id in to_folder(boxes, one)]
    old = {id for one in remove if _is_place(one) and (id := boxes.named_by(one))}
    alone = set(boxes.ids(("trash", "junk")))
    if alone & set(new):
        return frozenset(alone & set(new))
    places = {*said.mailboxes, *new} - old
    if new:
        places -= alone
    if not places:
        places = {boxes.by_role.get("archive") or role(boxes, "all")}
    return frozenset(places)


def _is_place(label: str) -> bool:
    return label in PLACES or label.startswith(FOLDER_PREFIX)


def _words(labels: Sequence[str]) -> list[str]:
    return [one.lower() for one in labels if _is_keyword(one)]


def _is_keyword(label: str) -> bool:
    if label in SYSTEM_LABELS or label.startswith(FOLDER_PREFIX):
        return False
    if not KEYWORD.match(label) or label.upper() in SYSTEM_LABELS:
        raise Rejected("a label of a mail server is one word of letters and digits")
    return True

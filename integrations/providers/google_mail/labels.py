"""What labels mean at Gmail. Its own names of places are Remit's. Those that the user made have
ids, and they are its folders too: a mail is moved by a label, and out of the inbox. Pure."""

from collections.abc import Iterable, Sequence

from integrations.exceptions import NotFound, Rejected
from integrations.providers.google_mail.answers import LabelSaid
from integrations.providers.mailboxes.labels import SYSTEM_LABELS

# Nobody makes a mail one that was sent, or a draft, by a label.
FIXED = frozenset({"SENT", "DRAFT"})
SETTABLE = SYSTEM_LABELS - FIXED
# In the trash and among the junk a mail lies alone.
ALONE = ("TRASH", "SPAM")


def own(said: Iterable[LabelSaid]) -> dict[str, str]:
    """Those that the user made: names by id."""
    return {one.id: one.name for one in said if one.type == "user"}


def visible(labels: Iterable[str], own: Iterable[str]) -> tuple[str, ...]:
    """Without Gmail's own opinions of a mail (categories, importance), which who writes can
    sway."""
    known = SYSTEM_LABELS | set(own)
    return tuple(sorted(one for one in labels if one in known))


def check(add: Sequence[str], remove: Sequence[str], own: Iterable[str]) -> None:
    """Raises Rejected for what no label can change, and NotFound for a label that is not there."""
    if FIXED & {*add, *remove}:
        raise Rejected("sent mail and drafts stay what they are")
    if not set(add) <= SETTABLE | set(own):
        raise NotFound("no such label")


def change(
    add: Sequence[str], remove: Sequence[str], present: Iterable[str]
) -> dict[str, list[str]]:
    """As Gmail is asked for it; empty where the mail is so already."""
    present = set(present)
    out = {*remove}
    if set(add) & set(ALONE):
        out |= {"INBOX", *ALONE} - set(add)
    elif "INBOX" in add:
        out |= set(ALONE)
    on, off = sorted(set(add) - present), sorted((out - set(add)) & present)
    return ({"addLabelIds": on} if on else {}) | ({"removeLabelIds": off} if off else {})

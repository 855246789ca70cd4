"""How earlier mail of a sender lies now: what the next like mail is filed by."""

from collections.abc import Mapping, Sequence
from typing import Any

from guardrails.facts.subjects import generalised
from integrations.contracts import AccountRef
from integrations.database.together import Read
from knowledge.contracts import StoredMail
from knowledge.search import mails

MOST = 5
LOOKED_AT = 20


def read_earlier(
    account: AccountRef, *, sender: str, list_id: str, authenticated: bool
) -> Read[tuple[StoredMail, ...]] | None:
    """The newest stored mail of this list, or that this sender is proved to have written, if they
    are proved now too. None where there is neither."""
    if list_id:
        return mails.read_of_list(account.id, list_id=list_id, limit=LOOKED_AT)
    if authenticated:
        return mails.read_from_sender(account.id, address=sender, limit=LOOKED_AT)
    return None


def describe(
    found: Sequence[StoredMail], *, but: str, subject: str, names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Those about which something was decided, newest first, without a word that a stranger wrote;
    `but` is the mail at hand, and `names` are what labels and folders are called. Pure."""
    wanted = generalised(subject)
    lines = []
    for mail in found:
        labels = sorted(names[one] for one in mail.labels if one in names)
        is_archived = "INBOX" not in mail.labels
        if mail.source_id == but or not (labels or is_archived):
            continue
        lines.append(
            {
                "labels": labels,
                "archived": is_archived,
                "same_subject": bool(wanted) and generalised(mail.subject) == wanted,
                "touched_by_user_since": not mail.left_by_agent,
            }
        )
    return lines[:MOST]

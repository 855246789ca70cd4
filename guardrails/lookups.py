"""What the guard looks up at the provider to tell where values come from, each bounded. Pure:
the reader is given."""

from collections.abc import Iterable

from guardrails.facts import ObjectKind
from integrations.ports import Reader

MAX_CORRESPONDENTS = 20  # look-ups of one decision; whoever is beyond counts as a stranger
PAGE, MAX_PAGES = 100, 5


def corresponded(reader: Reader, addresses: Iterable[str]) -> dict[str, int]:
    """How many mails the user sent to each of the first `MAX_CORRESPONDENTS` addresses. The
    provider compares letters without their case, so an address with capitals proves nothing
    and is not asked about. Raises ProviderError."""
    asked = [one for one in dict.fromkeys(addresses) if one == one.lower()]
    return {one: reader.correspondence(one).sent for one in asked[:MAX_CORRESPONDENTS]}


def namesakes(reader: Reader, kind: ObjectKind | None, title: str) -> int | None:
    """How many documents or events that this user sees have exactly this title. None for
    other kinds, and where there are more than `MAX_PAGES` pages of them. Raises ProviderError."""
    if kind not in ("document", "event"):
        return None
    cursor, found = None, 0
    for _ in range(MAX_PAGES):
        if kind == "document":
            documents = reader.documents(since=None, cursor=cursor, limit=PAGE)
            found += sum(one.name == title for one in documents.items)
            cursor = documents.next_cursor
        else:
            events = reader.events(since=None, cursor=cursor, limit=PAGE)
            found += sum(one.title == title for one in events.items)
            cursor = events.next_cursor
        if cursor is None:
            return found
    return None

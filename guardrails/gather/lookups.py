"""What the guard looks up at the provider for one decision: the facts about the object, and
what tells where values come from, each bounded. Pure: the reader is given."""

from collections.abc import Callable, Iterable, Set
from typing import TypeVar

from guardrails.facts import content, targets
from guardrails.facts.content import Content
from guardrails.facts.facts import Facts, Need, ObjectKind
from integrations.contracts import Document, Email, Event
from integrations.exceptions import NotFound
from integrations.ports import Reader

T = TypeVar("T")
MAIL_NEEDS: frozenset[Need] = frozenset({"email", "thread", "correspondence"})
MAX_CORRESPONDENTS = 20  # look-ups of one decision; whoever is beyond counts as a stranger
PAGE, MAX_PAGES = 100, 5


def gather(
    reader: Reader,
    *,
    object_kind: ObjectKind | None,
    object_id: str | None,
    needs: Set[Need],
    own_address: str,
) -> Facts:
    """Reads what `needs` names and no more. An object that does not exist for this user is
    left out of the facts; every other ProviderError passes through."""
    email_id = object_id if object_kind == "email" else None
    email = _found(reader.email, email_id) if needs & MAIL_NEEDS else None
    document = _found(reader.document, object_id) if object_kind == "document" else None
    event = _found(reader.event, object_id) if object_kind == "event" else None
    sender = targets.address_or_none(email.sender) if email else None
    return Facts(
        email=email,
        thread=_found(reader.thread, email.thread_id) if email and "thread" in needs else None,
        correspondence=(
            reader.correspondence(sender) if sender and "correspondence" in needs else None
        ),
        labels={one.id: one.name for one in reader.labels()} if "labels" in needs else None,
        projects={one.id: one.name for one in reader.projects()} if "projects" in needs else None,
        folders=reader.folders() if "folders" in needs else None,
        mailbox=reader.mailbox() if "mailbox" in needs else None,
        document=document,
        event=event,
        content=content_of(email or document or event) if "content" in needs else None,
        issue=_found(reader.issue, object_id) if object_kind == "issue" else None,
        draft=_found(reader.draft, object_id) if object_kind == "draft" else None,
        tool=_found(reader.tool, object_id) if object_kind == "tool" else None,
        own_address=own_address,
    )


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


def content_of(found: Email | Document | Event | None) -> Content | None:
    """What somebody who is shown this object gets to see; None without one."""
    if isinstance(found, Email):
        names = [one.name for one in found.attachments]
        texts = (found.subject, found.body_text)
        return content.of(texts, html=found.body_html, attachments=names)
    if isinstance(found, Document):
        return content.of((found.name, found.content_text))
    if isinstance(found, Event):
        return content.of((found.title, found.description, found.location or ""))
    return None


def _found(read: Callable[[str], T], key: str | None) -> T | None:
    try:
        return read(key) if key else None
    except NotFound:
        return None

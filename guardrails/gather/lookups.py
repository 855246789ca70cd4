"""What the guard looks up at the provider for one decision: the facts about the object, and
what tells where values come from, each bounded. Pure: the reader is given."""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from typing import TypeVar

from guardrails.facts import alerts, content, draft_text, senders, targets
from guardrails.facts.content import Content
from guardrails.facts.facts import Facts, Need, ObjectKind
from guardrails.facts.senders import Sender
from integrations.contracts import AnyItem, Document, Email, Event
from integrations.contracts.people import Correspondence
from integrations.exceptions import NotFound
from integrations.ports.account import Reader
from integrations.ports.calendar import CalendarReader
from integrations.ports.files import FilesReader
from integrations.ports.issues import IssuesReader
from integrations.ports.mail import MailReader
from integrations.ports.tools import ToolsReader

T = TypeVar("T")
MAIL_NEEDS: frozenset[Need] = frozenset({"email", "thread", "correspondence"})
MAX_CORRESPONDENTS = 20  # look-ups of one decision; one beyond them counts as a stranger
PAGE, MAX_PAGES = 100, 5


def gather(
    reader: Reader,
    *,
    object_kind: ObjectKind | None,
    object_id: str | None,
    needs: Set[Need],
    own_address: str,
    known: Mapping[str, Sender] = senders.SHIPPED,
) -> Facts:
    """Reads what `needs` names and no more; `known` are senders of alerts. An object that does
    not exist for this user is left out of the facts, and so is what a provider of this kind cannot
    be asked. Every ProviderError but NotFound passes through."""
    facts = Facts(own_address=own_address)
    if isinstance(reader, MailReader):
        facts = _of_mail(facts, reader, object_kind, object_id, needs)
        if facts.email is not None and "alert" in needs:
            facts = replace(facts, alert=alerts.describe(facts.email, known))
    if isinstance(reader, MailReader | FilesReader) and "folders" in needs:
        facts = replace(facts, folders=reader.folders())
    if isinstance(reader, FilesReader) and object_kind == "document":
        facts = replace(facts, document=_found(reader.document, object_id))
    if isinstance(reader, CalendarReader) and object_kind == "event":
        facts = replace(facts, event=_found(reader.event, object_id))
    if isinstance(reader, IssuesReader):
        if object_kind == "issue":
            facts = replace(facts, issue=_found(reader.issue, object_id))
        if "projects" in needs:
            projects = {one.id: one.name for one in reader.projects()}
            facts = replace(facts, projects=projects)
    if isinstance(reader, ToolsReader) and object_kind == "tool":
        facts = replace(facts, tool=_found(reader.tool, object_id))
    item = facts.email or facts.document or facts.event
    return replace(facts, content=content_of(item)) if "content" in needs else facts


def _of_mail(
    facts: Facts,
    reader: MailReader,
    object_kind: ObjectKind | None,
    object_id: str | None,
    needs: Set[Need],
) -> Facts:
    email_id = object_id if object_kind == "email" else None
    email = _found(reader.email, email_id) if needs & MAIL_NEEDS else None
    sender = targets.address_or_none(email.sender) if email else None
    draft = _found(reader.draft, object_id) if object_kind == "draft" else None
    return replace(
        facts,
        email=email,
        thread=_found(reader.thread, email.thread_id) if email and "thread" in needs else None,
        correspondence=(
            reader.correspondence(sender) if sender and "correspondence" in needs else None
        ),
        labels={one.id: one.name for one in reader.labels()} if "labels" in needs else None,
        mailbox=reader.mailbox() if "mailbox" in needs else None,
        draft=draft,
        draft_digest=draft_text.digest(
            to=draft.to, cc=draft.cc, bcc=draft.bcc, subject=draft.subject, body=draft.body
        )
        if draft
        else "",
    )


def correspondence(reader: Reader, addresses: Iterable[str]) -> dict[str, Correspondence]:
    """What the provider knows of each of the first `MAX_CORRESPONDENTS` addresses. Raises
    ProviderError."""
    asked = list(dict.fromkeys(addresses))[:MAX_CORRESPONDENTS]
    return {one: reader.correspondence(one) for one in asked}


def corresponded(known: Mapping[str, Correspondence]) -> dict[str, int]:
    """How many mails the user sent to each. The provider compares letters without their case, so
    an address with capitals proves nothing."""
    return {one: found.sent for one, found in known.items() if one == one.lower()}


def groups(known: Mapping[str, Correspondence]) -> tuple[str, ...]:
    """Those behind whom the provider knows many people."""
    return tuple(one for one, found in known.items() if found.group)


def members(reader: Reader, project_key: str, addresses: Iterable[str]) -> tuple[str, ...] | None:
    """Those of the plain addresses that are members of the project. None where the provider cannot
    be asked, or knows no such project. Raises ProviderError."""
    if not isinstance(reader, IssuesReader):
        return None
    found = _found(reader.members, project_key)
    known = targets.plain_addresses(one.address for one in found) if found is not None else None
    return None if known is None else tuple(one for one in addresses if one in known)


def namesakes(reader: Reader, kind: ObjectKind | None, title: str) -> int | None:
    """How many mails, documents or events of this user have exactly this title. None for
    other kinds, and where there are more than `MAX_PAGES` pages of them. Raises ProviderError."""
    if kind not in ("email", "document", "event"):
        return None
    cursor, found = None, 0
    for _ in range(MAX_PAGES):
        page = reader.items(since=None, cursor=cursor, limit=PAGE)
        found += sum(_title(one) == title for one in page.items)
        cursor = page.next_cursor
        if cursor is None:
            return found
    return None


def _title(item: AnyItem) -> str | None:
    if isinstance(item, Email):
        return item.subject
    if isinstance(item, Document):
        return item.name
    return item.title if isinstance(item, Event) else None


def content_of(found: Email | Document | Event | None) -> Content | None:
    """What somebody who is shown this object gets to see; None without one."""
    if isinstance(found, Email):
        names = [one.name for one in found.attachments]
        texts = (found.subject, found.body_text)
        return content.of_object(texts, html=found.body_html, attachments=names)
    if isinstance(found, Document):
        return content.of_object((found.name, found.content_text))
    if isinstance(found, Event):
        return content.of_object((found.title, found.description, found.location or ""))
    return None


def _found(read: Callable[[str], T], key: str | None) -> T | None:
    try:
        return read(key) if key else None
    except NotFound:
        return None

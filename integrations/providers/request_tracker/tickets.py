"""Tickets as Request Tracker gives them, in Remit's words, and back.

A queue is a project. RT's default lifecycle has new, open and resolved where Remit has “To Do”, “In
Progress” and “Done”; every other status keeps its name. RT counts priorities from 0 to 100 and
calls 0 none. It has no labels, but for a custom field with several values that is called so. Pure.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

from pydantic import Field

from integrations.contracts import Comment, Issue, Value
from integrations.contracts.field_types import Instant, Text
from integrations.exceptions import Malformed, NotFound, Rejected
from integrations.mail.html import html_to_text

TYPE = "task"
STATUSES = {"new": "To Do", "open": "In Progress", "resolved": "Done"}
RT_STATUSES = {words: name for name, words in STATUSES.items()}
PRIORITIES = {"lowest": 10, "low": 25, "medium": 50, "high": 75, "highest": 100}
LABELS = ("labels", "tags")
NOBODY = "Nobody"
# RT reads the times of a query where its user is, and does not tell where that is.
AHEAD = timedelta(hours=12)
NEVER = datetime(1971, 1, 1, tzinfo=UTC)  # what is before it is no date
SAID, CREATED = frozenset({"Comment", "Correspond"}), "Create"
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
_QUEUE = re.compile(r"[^'\"\\\x00-\x1f\x7f]{1,200}")
_MARK = re.compile(r"\s*<!-- remit:([A-Za-z0-9-]{1,200}) -->")
_LINK = re.compile(r".*/attachment/([1-9][0-9]{0,17})")


class Ref(Value):
    id: Text


class Queue(Value):
    id: Text
    Name: Text
    Disabled: Text = "0"


class CustomField(Value):
    """Of a ticket, or of a queue's tickets; then it has no values."""

    id: Text
    name: Text = ""
    values: tuple[Text, ...] = ()


class Link(Value):
    ref: Text = ""
    url: Text = Field(default="", alias="_url")


class RawQueue(Value):
    fields: tuple[CustomField, ...] = Field(default=(), alias="TicketCustomFields")
    links: tuple[Link, ...] = Field(default=(), alias="_hyperlinks")

    @property
    def labelled(self) -> CustomField | None:
        return labels_among(self.fields)

    @property
    def may_create(self) -> bool:
        return any(one.ref == "create" for one in self.links)


class Listed(Value):
    """A ticket in a list."""

    id: Text
    LastUpdated: Instant
    Queue: Ref


class Owned(Value):
    Owner: Ref


class RawTicket(Value):
    id: int
    Subject: Text = ""
    Status: Text
    Priority: int = 0
    Queue: Ref
    Owner: Ref
    Creator: Ref
    Created: Instant
    LastUpdated: Instant
    Due: Instant | None = None
    CustomFields: tuple[CustomField, ...] = ()

    @property
    def labelled(self) -> CustomField | None:
        return labels_among(self.CustomFields)


class Transaction(Value):
    id: Text
    Type: Text
    Creator: Ref
    Created: Instant
    links: tuple[Link, ...] = Field(default=(), alias="_hyperlinks")

    @property
    def attachments(self) -> list[str]:
        found = (_LINK.fullmatch(one.url) for one in self.links if one.ref == "attachment")
        return [one[1] for one in found if one]


class Attachment(Value):
    ContentType: Text = ""
    Filename: Text | None = None
    Content: Text | None = None

    @property
    def is_text(self) -> bool:
        kind = self.ContentType.lower()
        return not self.Filename and kind in ("text/plain", "text/html") and bool(self.Content)

    @property
    def source(self) -> str:
        """As it was written. Raises Malformed."""
        try:
            return base64.b64decode(self.Content or "").decode(errors="replace")
        except (binascii.Error, ValueError) as error:
            raise Malformed("an attachment that is not base64") from error


class User(Value):
    Name: Text
    EmailAddress: Text = ""
    RealName: Text = ""


def labels_among(fields: Iterable[CustomField]) -> CustomField | None:
    return next((one for one in fields if one.name.lower() in LABELS), None)


def check_ticket(key: str) -> str:
    """Raises NotFound for what is no number of a ticket."""
    if not _NUMBER.fullmatch(key):
        raise NotFound("RT has no ticket of this number")
    return key


def check_queue(name: str) -> str:
    """A name that can stand in a query. Raises NotFound for what is none."""
    if not _QUEUE.fullmatch(name):
        raise NotFound("RT has no queue of this name")
    return name


def moment(at: datetime) -> str:
    """For a query: as early as any user's zone makes it."""
    return f"{at.astimezone(UTC) - AHEAD:%Y-%m-%d %H:%M:%S}"


def marked(text: str, key: str) -> dict[str, str]:
    """The text as HTML, with an invisible mark at its end."""
    paragraphs = escape(text, quote=False).replace("\r\n", "\n").replace("\n", "<br>\n")
    return {"Content": f"<p>{paragraphs}</p><!-- remit:{key} -->", "ContentType": "text/html"}


def marks(source: str) -> list[str]:
    return _MARK.findall(source)


def text_of(found: Attachment) -> str:
    source = found.source
    return html_to_text(source) if found.ContentType.lower() == "text/html" else source.strip()


def revision_of(etag: str) -> str:
    return etag.strip('"')


def status_of(raw: RawTicket) -> str:
    return STATUSES.get(raw.Status, raw.Status)


def priority_of(number: int) -> str | None:
    """The nearest of Remit's words; 0 is none."""
    if number <= 0:
        return None
    return min(PRIORITIES, key=lambda name: abs(PRIORITIES[name] - number))


def to_issue(
    raw: RawTicket,
    *,
    queue: str,
    etag: str,
    base: str,
    description: str,
    comments: Sequence[Comment],
    people: Mapping[str, str],
) -> Issue:
    """`people` has the address of everybody who is named."""
    is_due = raw.Due is not None and raw.Due > NEVER
    labels = raw.labelled.values if raw.labelled else ()
    return Issue(
        id=str(raw.id),
        key=str(raw.id),
        project_key=queue,
        revision=revision_of(etag),
        updated_at=raw.LastUpdated,
        type=TYPE,
        summary=raw.Subject,
        description=description,
        status=status_of(raw),
        priority=priority_of(raw.Priority),
        assignee=people.get(raw.Owner.id) if raw.Owner.id != NOBODY else None,
        reporter=people.get(raw.Creator.id),
        created_at=raw.Created,
        labels=tuple(labels),
        due_date=raw.Due.date() if raw.Due and is_due else None,
        comments=tuple(comments),
        url=f"{base}/Ticket/Display.html?id={raw.id}",
    )


MISSING = {
    "components": "Tickets at RT have no components.",
    "duplicate_of": "Remit links no tickets at RT. Link them there.",
    "description": "RT keeps how a ticket began. Write a comment in place of it.",
}


def to_fields(changes: Mapping[str, Any], *, labels: CustomField | None) -> dict[str, Any]:
    """What is to be set but the owner, as RT calls it. Raises Rejected with a sentence for what a
    ticket does not have there."""
    found: dict[str, Any] = {}
    for name, value in changes.items():
        if name == "type" and value != TYPE:
            raise Rejected("Tickets at RT have no types. Call it a task.")
        if name in MISSING and (value or name == "description"):
            raise Rejected(MISSING[name])
        if name == "summary":
            found["Subject"] = value
        elif name == "status":
            found["Status"] = RT_STATUSES.get(value, value)
        elif name == "priority":
            found["Priority"] = str(PRIORITIES[value]) if value else "0"
        elif name == "due_date":
            found["Due"] = f"{value} 00:00:00" if value else ""
        elif name == "labels" and (value or labels):
            if labels is None:
                raise Rejected(
                    "This RT queue has no custom field “Labels” or “Tags” to keep labels in."
                )
            found["CustomFields"] = {labels.name: list(value)}
    return found

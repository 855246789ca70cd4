"""The objects of the contract. Each stored object is one of these plus `version` and
`updated_at`. Unknown fields and wrong types are refused."""

import html
import re
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from sandbox.data_service.times import normal_date, normal_instant

SNIPPET_LENGTH = 140
SYSTEM_LABELS = frozenset({"INBOX", "SENT", "UNREAD", "STARRED", "TRASH"})

Instant = Annotated[str, AfterValidator(normal_instant)]
Day = Annotated[str, AfterValidator(normal_date)]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Check = Literal["pass", "fail", "none"]
Priority = Literal["lowest", "low", "medium", "high", "highest"]
IssueType = Literal["task", "bug", "story", "epic"]
IssueStatus = Literal["To Do", "In Progress", "In Review", "Done"]
Role = Literal["reader", "commenter", "writer"]


class Value(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)


class Attachment(Value):
    name: str
    mime_type: str
    size: int
    gdrive_id: str | None = None
    file_id: str | None = None


class Authentication(Value):
    spf: Check = "none"
    dkim: Check = "none"
    dmarc: Check = "none"


class Email(Value):
    """One mail in one mailbox. The labels decide `is_read` and `is_starred`; where those are
    given they change the labels."""

    id: Id
    thread_id: str = ""
    message_id: str = ""
    sender: str = Field(alias="from")
    from_name: str = ""
    to: list[str] = []
    cc: list[str] = []
    bcc: list[str] = []
    receiver_names: dict[str, str] = {}
    reply_to: list[str] = []
    subject: str = ""
    body_text: str = ""
    body_html: str | None = None
    date: Instant
    labels: list[str] = ["INBOX", "UNREAD"]
    attachments: list[Attachment] = []
    is_read: bool | None = None
    is_starred: bool | None = None
    snippet: str = ""
    list_id: str | None = None
    list_post: str | None = None
    precedence: str = ""
    auto_submitted: str = ""
    report_type: str = ""
    authentication: Authentication = Authentication()

    @model_validator(mode="after")
    def _settle(self) -> Self:
        self.thread_id = self.thread_id or self.id
        self.message_id = self.message_id or f"<{self.id}@mail.sandbox.example>"
        labels = list(dict.fromkeys(self.labels))
        if self.is_read is not None:
            labels = with_label(labels, "UNREAD", present=not self.is_read)
        if self.is_starred is not None:
            labels = with_label(labels, "STARRED", present=self.is_starred)
        self.labels = labels
        self.is_read = "UNREAD" not in labels
        self.is_starred = "STARRED" in labels
        self.snippet = self.snippet or snippet(self.body_text, self.body_html)
        return self


class Draft(Value):
    id: Id
    thread_id: str
    message_id: str
    to: list[str] = []
    cc: list[str] = []
    bcc: list[str] = []
    subject: str = ""
    body: str = ""
    reply_to_id: str | None = None
    created_at: Instant


class Document(Value):
    """A file. `roles` says what each address in `shared_with` may do; absent means reader.
    `shared_by` says who let each in: the owner, unless it says otherwise; empty means that nobody
    knows."""

    id: Id
    name: str
    mime_type: str = "text/markdown"
    content_text: str = ""
    folder_id: str | None = None
    folder_path: str = ""
    created_at: Instant
    modified_at: Instant
    size_bytes: int = 0
    file_id: str | None = None
    shared_with: list[str] = []
    shared_by: dict[str, str] = {}
    roles: dict[str, Role] = {}
    owner: str
    trashed: bool = False
    url: str = ""

    @model_validator(mode="after")
    def _settle(self) -> Self:
        self.size_bytes = self.size_bytes or len(self.content_text.encode())
        self.shared_by = {
            reader: self.shared_by.get(reader, self.owner) for reader in self.shared_with
        }
        return self


class Attendee(Value):
    """`added_by` is who put them on the list: who made the event, unless it says otherwise; empty
    means that nobody knows."""

    email: str
    name: str = ""
    status: Literal["needs_action", "accepted", "declined", "tentative"] = "needs_action"
    added_by: str | None = None
    proposed_start: Instant | None = None
    proposed_end: Instant | None = None


class Event(Value):
    id: Id
    title: str
    description: str = ""
    start: Instant
    end: Instant
    location: str | None = None
    attendees: list[Attendee] = []
    recurrence: str | None = None
    time_zone: str = ""
    all_day: bool = False
    status: Literal["confirmed", "tentative", "cancelled"] = "confirmed"
    series_id: str | None = None
    original_start: Instant | None = None
    this_and_future: bool = False
    meet_link: str | None = None
    created_by: str
    url: str = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.end <= self.start:
            raise ValueError("end must be after start")
        for attendee in self.attendees:
            if attendee.added_by is None:
                attendee.added_by = self.created_by
        return self


class Comment(Value):
    id: Id
    author: str
    body: str
    created_at: Instant


class Issue(Value):
    id: Id
    key: Id
    project_key: str
    type: IssueType = "task"
    summary: str
    description: str = ""
    status: IssueStatus = "To Do"
    priority: Priority = "medium"
    assignee: str | None = None
    reporter: str
    created_at: Instant
    labels: list[str] = []
    components: list[str] = []
    duplicate_of: str | None = None
    due_date: Day | None = None
    comments: list[Comment] = []
    url: str = ""


class ChatMessage(Value):
    id: Id
    channel_id: str
    channel: str
    thread_id: str = ""
    sender: str = ""
    sender_name: str = ""
    text: str = ""
    sent_at: Instant
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of object: how it is named, where its webhooks say it comes from and of what
    type (None: it has none), and which fields follow from the others."""

    name: str
    collection: str
    model: type[Value]
    source: str | None
    content_type: str | None
    derived: frozenset[str] = frozenset()


EMAIL = Kind(
    name="email",
    collection="emails",
    model=Email,
    source="gmail",
    content_type="email",
    derived=frozenset({"is_read", "is_starred", "snippet"}),
)
DRAFT = Kind(name="draft", collection="drafts", model=Draft, source=None, content_type=None)
DOCUMENT = Kind(
    name="document",
    collection="documents",
    model=Document,
    source="gdrive",
    content_type="document",
    derived=frozenset({"size_bytes"}),
)
EVENT = Kind(
    name="event", collection="events", model=Event, source="calendar", content_type="event"
)
ISSUE = Kind(name="issue", collection="issues", model=Issue, source="jira", content_type="issue")
# Sources that are read and never written to.
OUTLOOK = Kind(
    name="outlook_email",
    collection="outlook",
    model=Email,
    source="outlook",
    content_type="email",
    derived=EMAIL.derived,
)
GITHUB = Kind(
    name="github_issue", collection="github", model=Issue, source="github", content_type="issue"
)
SLACK = Kind(
    name="slack_message",
    collection="slack",
    model=ChatMessage,
    source="slack",
    content_type="message",
)
READ_ONLY = (OUTLOOK, GITHUB, SLACK)
KINDS = (EMAIL, DRAFT, DOCUMENT, EVENT, ISSUE, *READ_ONLY)


def with_label(labels: list[str], label: str, *, present: bool) -> list[str]:
    """The labels with this one present or absent; the order of the others is kept."""
    if present:
        return labels if label in labels else [*labels, label]
    return [other for other in labels if other != label]


def snippet(text: str, markup: str | None) -> str:
    """The first words of a mail on one line, from the HTML when there is no text."""
    if not text.strip() and markup:
        bare = re.sub(
            r"(?is)<(style|script|title)\b.*?</\1>|<!--.*?-->|<[^>]*>", " ", markup[:20000]
        )
        text = html.unescape(bare)
    return " ".join(text[:4000].split())[:SNIPPET_LENGTH]

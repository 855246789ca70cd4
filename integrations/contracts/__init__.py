"""Values that cross the edge of `integrations`: accounts, provider objects, webhook events.

Provider objects are pydantic models because the data comes from outside: wrong types are
refused at the edge, fields we do not know are ignored (a provider may grow), and every
value is immutable. Field names and meanings: `docs/data-service.md`.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from integrations.contracts.field_types import (
    FileId,
    Identifier,
    Instant,
    LocalTime,
    Text,
    lines,
)

# What an account holds, at any provider. Actions, conditions, tools and turns are about kinds.
Kind = Literal["mail", "files", "calendar", "issues", "messages", "tools", "contacts"]
# What the API, webhooks and items call the place that an account reads from: the data service has
# these, and `integrations.ports.registry` knows all.
ProvidedSource = Literal["gmail", "outlook", "gdrive", "calendar", "jira", "github", "slack"]
Source = str
ContentType = Literal["email", "document", "event", "issue", "message"]


@dataclass(frozen=True, kw_only=True)
class AccountRef:
    """One connected account of one end user: whose data, of which kind, and who keeps it."""

    id: UUID
    organisation_id: UUID
    organisation_slug: str
    external_user_id: str
    kind: Kind
    provider: str
    source: Source
    address: str
    display_name: str
    time_zone: str
    paused: bool
    features: tuple[str, ...] = ()  # what an admin opted the account in to
    # What alone is read in (`integrations.contracts.scope`). Empty: everything.
    project_keys: tuple[str, ...] = ()
    mime_types: tuple[str, ...] = ()
    bcc_self: bool = False  # its user gets a blind copy of each mail that goes out over SMTP


class Value(BaseModel):
    """Something that a provider says."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ProviderObject(Value):
    """`revision` says which state of the object this is: opaque text of its provider, compared for
    equality alone; empty where it has none. Which of two is newer a provider says by a rising
    `version` (0: it has none), by `updated_at`, or not at all."""

    model_config = ConfigDict(populate_by_name=True)

    id: Identifier
    revision: Text = ""
    version: int = Field(default=0, ge=0, lt=2**63)
    updated_at: Instant | None = None


class Attachment(Value):
    name: Text
    mime_type: Text = "application/octet-stream"
    size: int = 0
    gdrive_id: Text | None = None
    file_id: FileId = None


class Authentication(Value):
    """What the receiving server found about the sender: pass, fail or none each."""

    spf: Text = "none"
    dkim: Text = "none"
    dmarc: Text = "none"


class Email(ProviderObject):
    thread_id: Text = ""
    message_id: Text = ""
    sender: Text = Field(default="", alias="from")
    sender_name: Text = Field(default="", alias="from_name")
    to: tuple[Text, ...] = ()
    cc: tuple[Text, ...] = ()
    bcc: tuple[Text, ...] = ()
    reply_to: tuple[Text, ...] = ()
    subject: Text = ""
    body_text: Text = ""
    body_html: Text | None = None
    date: Instant
    labels: tuple[Text, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    is_read: bool = False
    is_starred: bool = False
    snippet: Text = ""
    list_id: Text | None = None
    list_post: Text | None = None  # where mail to the whole list goes
    precedence: Text = ""
    auto_submitted: Text = ""
    report_type: Text = ""  # of a multipart/report: delivery-status …
    authentication: Authentication = Authentication()


class Document(ProviderObject):
    name: Text = ""
    mime_type: Text = ""
    content_text: Text = ""
    folder_path: Text = ""
    folder_id: Text | None = None
    created_at: Instant
    modified_at: Instant
    size_bytes: int = 0
    file_id: FileId = None
    file_type: Text = ""  # of these bytes, where the provider converts them
    shared_with: tuple[Text, ...] = ()
    shared_by: dict[Text, Text] = {}  # who let each of them in; absent: the provider does not tell
    roles: dict[Text, Text] = {}
    owner: Text = ""
    trashed: bool = False


class Attendee(Value):
    """`added_by` is who put them on the list; empty: the provider does not tell."""

    email: Text
    name: Text = ""
    status: Text = ""
    added_by: Text = ""
    proposed_start: Text | None = None  # another time that suits them, in ISO 8601
    proposed_end: Text | None = None


class Event(ProviderObject):
    """An event, or a series of them (`recurrence`: RRULE, EXDATE and RDATE lines of RFC 5545).

    One of a series that was moved or cancelled is an event of its own that names the series
    and when it would have begun; with `this_and_future` it stands for all later ones too.
    """

    time_zone: Text = ""  # before the times, which are local in it unless they name an offset
    title: Text = ""
    description: Text = ""
    start: LocalTime
    end: LocalTime
    all_day: bool = False
    status: Text = "confirmed"
    location: Text | None = ""
    attendees: tuple[Attendee, ...] = ()
    recurrence: Annotated[Text | None, BeforeValidator(lines)] = None
    series_id: Text | None = None
    original_start: LocalTime | None = None
    this_and_future: bool = False
    meet_link: Text | None = None
    created_by: Text = ""


class Comment(Value):
    id: Text = ""
    author: Text = ""
    body: Text = ""
    created_at: Instant | None = None


class Issue(ProviderObject):
    key: Text
    project_key: Text
    type: Text = "task"
    summary: Text = ""
    description: Text | None = ""
    status: Text = ""
    priority: Text | None = None
    assignee: Text | None = None
    reporter: Text | None = None
    created_at: Instant
    labels: tuple[Text, ...] = ()
    components: tuple[Text, ...] = ()
    duplicate_of: Text | None = None  # the key of the issue that it repeats
    due_date: date | None = None
    comments: tuple[Comment, ...] = ()
    url: Text = ""


class ChatMessage(ProviderObject):
    """One message of a channel, or of a conversation of a few. A reply names its thread."""

    channel_id: Text = ""
    channel: Text = ""
    thread_id: Text = ""
    sender: Text = ""
    sender_name: Text = ""
    text: Text = ""
    sent_at: Instant
    url: Text = ""


class Named(Value):
    """A label, folder or project that exists at the provider: identity and name."""

    id: Text
    name: Text


class Project(Value):
    """A project of the issue tracker: its key is its identity."""

    key: Text
    name: Text


class Colleague(Value):
    """Somebody of the organisation as its provider's directory has them. `group`: many people are
    behind the address."""

    address: Text
    name: Text = ""
    other_names: tuple[Text, ...] = ()
    group: bool = False


class Folder(Named):
    """A mail or drive folder. `shared_with` is who else sees what lies in it; None means that
    the provider does not say."""

    kind: Text = ""
    shared_with: tuple[Text, ...] | None = None


class Mailbox(Value):
    """Whose mailbox it is, who else reads it, and how many mails its inbox holds, where the
    provider says so."""

    address: Text
    shared_with: tuple[Text, ...]
    inbox: int | None = Field(default=None, ge=0)


class Operation(Value):
    """A write the provider has performed under one of our idempotency keys."""

    key: str
    status: int
    response: Any = None
    performed_at: datetime


class Change(Value):
    """One entry of a provider's history: what was changed, when, and by whom: through our
    client id or by somebody else. `key` is our idempotency key where the provider knows one."""

    id: Text = Field(min_length=1, max_length=200)
    kind: Text = Field(max_length=60)
    change: Text = Field(max_length=60)
    object_id: Text = Field(max_length=500)
    by: Literal["client", "other"]
    key: Text | None = Field(default=None, max_length=255)
    at: AwareDatetime


AnyItem = Email | Document | Event | Issue | ChatMessage
T = TypeVar("T", bound=ProviderObject | Change | Colleague, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Rejected:
    """An item of a page that breaks the contract: its id, as far as it has one, and why."""

    source_id: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Page(Generic[T]):
    """`remaining` is how many items come after this page, where the provider says so. `end` is
    what a last page leaves to a later listing, which goes on behind it."""

    items: tuple[T, ...]
    next_cursor: str | None
    rejected: tuple[Rejected, ...] = ()
    remaining: int | None = None
    end: str = ""

"""What a JMAP server says, in types (RFC 8620, 8621): what breaks them is Malformed. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from integrations.exceptions import (
    Changed,
    CursorExpired,
    Malformed,
    NotPermitted,
    ProviderError,
    RateLimited,
    Rejected,
    Unavailable,
)

SAID_CHARS = 200
# RFC 8620, 1.2.
Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.@:-]{1,255}$")]
State = Annotated[str, StringConstraints(max_length=1000)]
Call = tuple[str, dict[str, Any]]
ERRORS: dict[str, type[ProviderError]] = {
    "stateMismatch": Changed,
    "cannotCalculateChanges": CursorExpired,
    "anchorNotFound": CursorExpired,
    "forbidden": NotPermitted,
    "accountReadOnly": NotPermitted,
    "accountNotFound": NotPermitted,
    "rateLimit": RateLimited,
    "serverUnavailable": Unavailable,
    "serverPartialFail": Unavailable,
    "serverFail": Unavailable,
}


class Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Limits(Said):
    """Of the core capability."""

    at_once: Annotated[int, Field(ge=1, alias="maxObjectsInGet")] = 50


class SubmissionLimits(Said):
    """Of the submission capability of an account (RFC 8621, 1.3.2)."""

    most_delay: Annotated[int, Field(ge=0, alias="maxDelayedSend")] = 0


class MailboxSaid(Said):
    id: Id
    name: Annotated[str, StringConstraints(max_length=500)]
    parent: Id | None = Field(default=None, alias="parentId")
    role: str | None = None
    mails: int = Field(default=0, ge=0, alias="totalEmails")
    share_with: dict[str, Any] | None = Field(default=None, alias="shareWith")


class EmailSaid(Said):
    """Where a mail is, how it is marked, and which blob holds its bytes."""

    id: Id
    blob_id: Id = Field(alias="blobId")
    thread_id: Id = Field(alias="threadId")
    mailbox_ids: dict[Id, bool] = Field(alias="mailboxIds")
    keywords: dict[str, bool]
    size: int = Field(ge=0)
    received_at: AwareDatetime = Field(alias="receivedAt")

    @property
    def mailboxes(self) -> frozenset[str]:
        return frozenset(id for id, there in self.mailbox_ids.items() if there)

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word.lower() for word, there in self.keywords.items() if there)


EMAIL_FIELDS = ["id", "blobId", "threadId", "mailboxIds", "keywords", "size", "receivedAt"]


class EmailsGot(Said):
    state: State
    list: tuple[EmailSaid, ...]


class StateGot(Said):
    state: State


class NameSaid(Said):
    id: Id
    names: tuple[str, ...] | None = Field(default=None, alias="messageId")


class NamesGot(Said):
    list: tuple[NameSaid, ...]


class MailboxesGot(Said):
    state: State
    list: tuple[MailboxSaid, ...]


class Queried(Said):
    ids: tuple[Id, ...]


class EmailsChanged(Said):
    new_state: State = Field(alias="newState")
    more: bool = Field(default=False, alias="hasMoreChanges")
    created: tuple[Id, ...] = ()
    updated: tuple[Id, ...] = ()
    destroyed: tuple[Id, ...] = ()


class Address(Said):
    name: str | None = None
    email: str | None = None


class HeadersSaid(Said):
    """Whom a mail names, and what tells answers and the agent's mail from others."""

    id: Id
    received_at: AwareDatetime = Field(alias="receivedAt")
    sender: tuple[Address, ...] | None = Field(default=None, alias="from")
    to: tuple[Address, ...] | None = None
    cc: tuple[Address, ...] | None = None
    bcc: tuple[Address, ...] | None = None
    in_reply_to: tuple[str, ...] | None = Field(default=None, alias="inReplyTo")
    references: tuple[str, ...] | None = None
    mark: str | None = Field(default=None, alias="header:X-Remit-Action:asText")


HEADER_FIELDS = [
    *("id", "receivedAt", "from", "to", "cc", "bcc", "inReplyTo", "references"),
    "header:X-Remit-Action:asText",
]


class HeadersGot(Said):
    list: tuple[HeadersSaid, ...]


class ThreadSaid(Said):
    id: Id
    emails: tuple[Id, ...] = Field(alias="emailIds")


class ThreadsGot(Said):
    list: tuple[ThreadSaid, ...]


class IdentitySaid(Said):
    id: Id
    email: str


class IdentitiesGot(Said):
    list: tuple[IdentitySaid, ...]


class SubmissionSaid(Said):
    """A mail that was handed over. While it is pending the server may not have sent it yet."""

    id: Id
    undo_status: str = Field(default="final", alias="undoStatus")
    send_at: AwareDatetime | None = Field(default=None, alias="sendAt")

    @property
    def is_pending(self) -> bool:
        return self.undo_status == "pending"


class SubmissionsGot(Said):
    list: tuple[SubmissionSaid, ...]


class Created(SubmissionSaid):
    thread_id: Id | None = Field(default=None, alias="threadId")


class Refusal(Said):
    type: str
    description: str | None = None


class Done(Said):
    """Of a method that sets: what was done and what was refused."""

    created: dict[str, Created] | None = None
    updated: dict[str, Any] | None = None
    destroyed: tuple[Id, ...] | None = None
    not_created: dict[str, Refusal] | None = Field(default=None, alias="notCreated")
    not_updated: dict[str, Refusal] | None = Field(default=None, alias="notUpdated")
    not_destroyed: dict[str, Refusal] | None = Field(default=None, alias="notDestroyed")


class Envelope(Said):
    responses: list[tuple[str, dict[str, Any], str]] = Field(alias="methodResponses")


T = TypeVar("T", bound=Said)


@dataclass(frozen=True)
class Answers:
    """To the calls of one request, by their place in it."""

    responses: Sequence[tuple[str, Mapping[str, Any], str]]

    def to(self, place: int, kind: type[T]) -> T:
        """Raises ProviderError where the server refused that call."""
        for name, said, at in self.responses:
            if at == str(place):
                if name == "error":
                    raise failure(said)
                return read(said, kind)
        raise Malformed("the server does not answer one of the calls")


def read(said: Any, kind: type[T]) -> T:
    try:
        return kind.model_validate(said)
    except ValidationError as error:
        raise Malformed(f"the answer is no {kind.__name__}") from error


def failure(said: Mapping[str, Any]) -> ProviderError:
    """Of a whole call."""
    name = str(said.get("type", ""))[:60]
    text = f"{name} {said.get('description') or ''}".strip()[:SAID_CHARS]
    return ERRORS.get(name, Rejected)(f"the server said no: {name}", said=text)


def moment(at: datetime) -> str:
    """As JMAP writes times (UTCDate)."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")

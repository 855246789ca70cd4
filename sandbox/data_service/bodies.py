"""What a client may ask to be written. Unknown fields and wrong types are refused; a field
that is absent from a change stays as it is."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from sandbox.data_service.values import (
    Day,
    Instant,
    IssueStatus,
    IssueType,
    Priority,
    Role,
    Value,
)

ADDRESS = re.compile(
    r"[^\s@<>,;:\"()\[\]\\\x00-\x1f\x7f]{1,64}@[^\s@<>,;:\"()\[\]\\\x00-\x1f\x7f]+"
)


def _one_address(text: str) -> str:
    if len(text) > 254 or not ADDRESS.fullmatch(text):
        raise ValueError("give one bare address such as maya@company.com")
    return text


def _one_line(text: str) -> str:
    if re.search(r"[\r\n\x00]", text):
        raise ValueError("it must be one line")
    return text


Address = Annotated[str, AfterValidator(_one_address)]
Addresses = Annotated[list[Address], Field(max_length=100)]
Line = Annotated[str, Field(max_length=1000), AfterValidator(_one_line)]
FilledLine = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_one_line)]
Words = Annotated[list[FilledLine], Field(max_length=50)]


class Empty(Value):
    """A write that needs no body."""


class Send(Value):
    to: Annotated[Addresses, Field(min_length=1)]
    cc: Addresses = []
    bcc: Addresses = []
    reply_to: Addresses = []
    subject: Line = ""
    body: str
    reply_to_id: str | None = None
    attachments: Words = []


class Forward(Value):
    to: Annotated[Addresses, Field(min_length=1)]
    cc: Addresses = []
    bcc: Addresses = []
    body: str = ""
    attachments: Words = []


class NewDraft(Value):
    to: Addresses = []
    cc: Addresses = []
    bcc: Addresses = []
    subject: Line = ""
    body: str = ""
    reply_to_id: str | None = None


class DraftChange(Value):
    to: Addresses = []
    cc: Addresses = []
    bcc: Addresses = []
    subject: Line = ""
    body: str = ""


class LabelChange(Value):
    add: list[str] = []
    remove: list[str] = []
    thread_remove: list[str] = []

    @model_validator(mode="after")
    def _check(self) -> Self:
        both = set(self.add) & set(self.remove)
        if both:
            raise ValueError(f"{min(both)!r} is to be added and removed")
        return self


class Move(Value):
    folder_id: str


class NewEvent(Value):
    title: FilledLine
    description: str | None = ""
    start: Instant
    end: Instant
    attendees: Addresses = []
    location: str | None = None
    recurrence: Line | None = None
    create_meet_link: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.end <= self.start:
            raise ValueError("end must be after start")
        return self


class EventChange(Value):
    title: FilledLine = ""
    description: str = ""
    start: Instant = ""
    end: Instant = ""
    attendees: Addresses = []
    location: str | None = None
    recurrence: Line | None = None
    status: Literal["confirmed", "tentative"] = "confirmed"


class NewIssue(Value):
    project_key: str
    type: IssueType
    summary: FilledLine
    description: str | None = ""
    assignee: Address | None = None
    priority: Priority | None = None
    labels: Words = []
    components: Words = []
    due_date: Day | None = None


class EventAnswer(Value):
    status: Literal["accepted", "tentative", "declined"]
    start: Instant | None = None
    end: Instant | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.start is None) != (self.end is None):
            raise ValueError("start and end go together")
        if self.start and self.end and self.end <= self.start:
            raise ValueError("end must be after start")
        return self


class IssueChange(Value):
    type: IssueType = "task"
    summary: FilledLine = ""
    description: str = ""
    status: IssueStatus = "To Do"
    priority: Priority = "medium"
    assignee: Address | None = None
    labels: Words = []
    components: Words = []
    duplicate_of: str | None = None
    due_date: Day | None = None


class NewComment(Value):
    body: Annotated[str, Field(min_length=1)]


class NewDocument(Value):
    name: FilledLine
    content: str = ""
    mime_type: Line = "text/markdown"
    folder_id: str | None = None


class DocumentChange(Value):
    mode: Literal["append", "replace"]
    content: str


class Unshare(Value):
    email: Address


class Share(Value):
    email: Address
    role: Role

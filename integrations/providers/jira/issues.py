"""Issues as Jira gives them, in Remit's words, and back. Pure."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from pydantic import Field

from integrations.contracts import Comment, Issue, Value
from integrations.contracts.field_types import Instant, Text
from integrations.exceptions import NotFound
from integrations.providers.jira import text
from integrations.providers.jira.servers import JiraServer

PROPERTY = "remit"
# Jira's names of what Remit changes, but for the status, which is a step of a workflow.
NAMES = {
    "summary": "summary",
    "description": "description",
    "type": "issuetype",
    "priority": "priority",
    "labels": "labels",
    "assignee": "assignee",
    "due_date": "duedate",
    "components": "components",
}
FIELDS = (
    *NAMES.values(),
    *("status", "reporter", "created", "updated", "project", "comment"),
)
_KEY = re.compile(r"[A-Z][A-Z0-9_]{1,99}-[1-9][0-9]{0,9}")
_PROJECT = re.compile(r"[A-Z][A-Z0-9_]{1,99}")


class Person(Value):
    accountId: Text = ""  # noqa: N815  # Jira's name
    name: Text = ""
    emailAddress: Text = ""  # noqa: N815
    displayName: Text = ""  # noqa: N815
    timeZone: Text = "UTC"  # noqa: N815


class Called(Value):
    name: Text


class Keyed(Value):
    key: Text


class RawComment(Value):
    id: Text
    author: Person | None = None
    body: Any = None
    created: Instant


class Comments(Value):
    total: int = 0
    comments: tuple[RawComment, ...] = ()


class Fields(Value):
    summary: Text = ""
    description: Any = None
    issuetype: Called
    status: Called
    priority: Called | None = None
    assignee: Person | None = None
    reporter: Person | None = None
    created: Instant
    updated: Text
    labels: tuple[Text, ...] = ()
    components: tuple[Called, ...] = ()
    duedate: date | None = None
    project: Keyed
    comment: Comments = Comments()


class RawIssue(Value):
    id: Text
    key: Text
    fields: Fields


class Editable(Value):
    """A field that can be changed. What values are like differs from field to field."""

    allowedValues: Any = None  # noqa: N815  # Jira's name

    @property
    def names(self) -> list[str] | None:
        """Of the values that Jira offers for it; None where it names none."""
        if not isinstance(self.allowedValues, list):
            return None
        return [str(one["name"]) for one in self.allowedValues if "name" in one]


class EditMeta(Value):
    fields: Mapping[str, Editable] = Field(default_factory=dict)


class Project(Value):
    key: Text
    name: Text = ""


class Step(Value):
    """A step that the workflow allows from here."""

    id: Text
    to: Called


class Marked(Value):
    value: Mapping[str, Any] = Field(default_factory=dict)


def check_key(key: str) -> str:
    """Raises NotFound for what is no key of an issue."""
    if not _KEY.fullmatch(key):
        raise NotFound("Jira has no issue of this key")
    return key


def check_project(key: str) -> str:
    """Raises NotFound for what is no key of a project."""
    if not _PROJECT.fullmatch(key):
        raise NotFound("Jira has no project of this key")
    return key


def marked(key: str) -> list[dict[str, Any]]:
    """The properties of what is written under this key."""
    return [{"key": PROPERTY, "value": {"key": key}}]


def to_issue(raw: RawIssue, *, server: JiraServer, own: str) -> Issue:
    found = raw.fields
    return Issue.model_validate(
        {
            "id": raw.id,
            "key": raw.key,
            "project_key": found.project.key,
            "revision": found.updated,
            "updated_at": found.updated,
            "type": found.issuetype.name.lower(),
            "summary": found.summary,
            "description": read_text(found.description, server=server),
            "status": found.status.name,
            "priority": found.priority.name.lower() if found.priority else None,
            "assignee": address_of(found.assignee, server=server, own=own) or None,
            "reporter": address_of(found.reporter, server=server, own=own) or None,
            "created_at": found.created,
            "labels": found.labels,
            "components": [one.name for one in found.components],
            "due_date": found.duedate,
            "comments": [to_comment(one, server=server, own=own) for one in found.comment.comments],
            "url": f"{server.base}/browse/{raw.key}",
        }
    )


def to_comment(raw: RawComment, *, server: JiraServer, own: str) -> Comment:
    return Comment(
        id=raw.id,
        author=address_of(raw.author, server=server, own=own),
        body=read_text(raw.body, server=server),
        created_at=raw.created,
    )


def address_of(person: Person | None, *, server: JiraServer, own: str) -> str:
    """Their address; where Jira does not show it, their name."""
    if person is None:
        return ""
    return own if is_me(person, server=server) else person.emailAddress or person.displayName


def is_me(person: Person, *, server: JiraServer) -> bool:
    return (person.accountId if server.is_cloud else person.name) == server.me


def read_text(found: Any, *, server: JiraServer) -> str:
    return text.from_document(found) if server.is_cloud else text.from_wiki(found)


def write_text(plain: str, *, server: JiraServer) -> Any:
    return text.to_document(plain) if server.is_cloud else text.to_wiki(plain)


def to_field(name: str, value: Any, *, server: JiraServer) -> Any:
    """One field but the assignee, as Jira takes it."""
    if name == "description":
        return write_text(value or "", server=server)
    if name in ("type", "priority"):
        return {"name": str(value).capitalize()} if value else None
    if name == "components":
        return [{"name": one} for one in value]
    return list(value) if name == "labels" else value

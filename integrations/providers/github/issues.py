"""Issues as GitHub gives them, in Remit's words, and back.

A repository is a project, `owner:name`, and its issues are `owner:name:12`: ids have no slash and
no hash. GitHub has open and closed where Remit has “To Do” and “Done”, and knows people by a login.
Their address is the one that GitHub itself gives everybody (`login@users.noreply.github.com`); the
account's own user keeps the address that the account has. Pure.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from integrations.contracts import Comment, Issue, Value
from integrations.contracts.field_types import Instant, Text
from integrations.exceptions import NotFound, Rejected
from integrations.providers.github.servers import GitHubServer

OPEN, DONE, TYPE = "To Do", "Done", "task"
CLOSED = {OPEN: False, DONE: True}
_KEY = re.compile(r"([^:]+:[^:]+):([1-9][0-9]{0,9})")
_PROJECT = re.compile(r"([A-Za-z0-9_.-]{1,100}):([A-Za-z0-9_.-]{1,100})")
_MARK = re.compile(r"\s*<!-- remit:([A-Za-z0-9-]{1,200}) -->")


class Somebody(Value):
    login: Text


class Label(Value):
    name: Text


class Kind(Value):
    name: Text


class RawComment(Value):
    id: int
    user: Somebody | None = None
    body: Text | None = ""
    created_at: Instant
    html_url: Text = ""


class RawIssue(Value):
    number: int = Field(ge=1)
    title: Text
    body: Text | None = None
    state: Text
    user: Somebody | None = None
    labels: tuple[Label | Text, ...] = ()
    assignees: tuple[Somebody, ...] = ()
    comments: int = 0
    created_at: Instant
    updated_at: Instant
    html_url: Text = ""
    repository_url: Text
    type: Kind | None = None
    pull_request: Mapping[str, Any] | None = None

    @property
    def repository(self) -> str:
        """GitHub's own name of it."""
        return "/".join(self.repository_url.split("/")[-2:])

    @property
    def key(self) -> str:
        return f"{project_of(self.repository)}:{self.number}"


class Repository(Value):
    full_name: Text
    has_issues: bool = True
    archived: bool = False
    permissions: Mapping[str, bool] = Field(default_factory=dict)

    @property
    def may_sort(self) -> bool:
        """Whether labels and assignees can be set: else GitHub drops them without a word."""
        return any(self.permissions.get(one) for one in ("admin", "maintain", "push", "triage"))


def split_key(key: str) -> tuple[str, str]:
    """Project and number of an issue. Raises NotFound."""
    found = _KEY.fullmatch(key)
    if found is None:
        raise NotFound("GitHub has no issue of this name")
    return found[1], found[2]


def path_of(project: str) -> str:
    """Where a repository is. Raises NotFound for what cannot be one."""
    found = _PROJECT.fullmatch(project)
    if found is None or {found[1], found[2]} & {".", ".."}:
        raise NotFound("GitHub has no repository of this name")
    return f"/repos/{found[1]}/{found[2]}"


def path_of_issue(key: str) -> str:
    """Raises NotFound."""
    project, number = split_key(key)
    return f"{path_of(project)}/issues/{number}"


def project_of(repository: str) -> str:
    """From GitHub's own `owner/name`."""
    return repository.replace("/", ":")


def marked(text: str, key: str, *, before: str = "") -> str:
    """The text with an invisible mark at its end, and with those that it had `before`."""
    keys = [*_MARK.findall(before), *([key] if key else [])]
    return text + "".join(f"\n\n<!-- remit:{one} -->" for one in dict.fromkeys(keys))


def marks(text: str | None) -> list[str]:
    return _MARK.findall(text or "")


def to_issue(
    raw: RawIssue, comments: Iterable[RawComment], *, server: GitHubServer, own: str
) -> Issue:
    labels = tuple(one if isinstance(one, str) else one.name for one in raw.labels)
    people = [address_of(one.login, server=server, own=own) for one in raw.assignees]
    return Issue(
        id=raw.key,
        key=raw.key,
        project_key=project_of(raw.repository),
        revision=revision_of(raw),
        updated_at=raw.updated_at,
        type=raw.type.name.lower() if raw.type else TYPE,
        summary=raw.title,
        description=_MARK.sub("", raw.body or "").replace("\r\n", "\n"),
        status=OPEN if raw.state == "open" else DONE,
        assignee=", ".join(people) or None,
        reporter=address_of(raw.user.login, server=server, own=own) if raw.user else None,
        created_at=raw.created_at,
        labels=labels,
        comments=tuple(to_comment(one, server=server, own=own) for one in comments),
        url=raw.html_url,
    )


def to_comment(raw: RawComment, *, server: GitHubServer, own: str) -> Comment:
    return Comment(
        id=str(raw.id),
        author=address_of(raw.user.login, server=server, own=own) if raw.user else "",
        body=_MARK.sub("", raw.body or ""),
        created_at=raw.created_at,
    )


def address_of(login: str, *, server: GitHubServer, own: str) -> str:
    return own if login.lower() == server.login.lower() else f"{login}@{_domain(server)}"


def login_of(address: str, *, server: GitHubServer, own: str) -> str:
    """Raises Rejected for an address that names nobody there."""
    if address.lower() == own.lower():
        return server.login
    login, at, domain = address.rpartition("@")
    if not at or domain.lower() != _domain(server):
        raise Rejected(
            f"GitHub knows people by their login. Name somebody as login@{_domain(server)}."
        )
    return login.rpartition("+")[2]


MISSING = {
    "priority": "priority",
    "due_date": "due date",
    "components": "component: give it a label",
    "duplicate_of": "link to the one that it repeats: say so in a comment",
}


def to_fields(
    changes: Mapping[str, Any], *, server: GitHubServer, own: str, body: str = ""
) -> dict[str, Any]:
    """What is to be set, as GitHub calls it; `body` is the text that is there. Raises Rejected with
    a sentence for what an issue does not have there."""
    found: dict[str, Any] = {}
    for name, value in changes.items():
        if name in MISSING and value:
            raise Rejected(f"An issue at GitHub has no {MISSING[name]}.")
        if name == "type" and value != TYPE:
            raise Rejected("Remit sets no types of issues at GitHub. Call it a task.")
        if name == "status":
            if value not in CLOSED:
                raise Rejected(f"An issue at GitHub is “{OPEN}” or “{DONE}”.")
            found["state"] = "closed" if CLOSED[value] else "open"
            found["state_reason"] = "completed" if CLOSED[value] else "reopened"
        elif name == "summary":
            found["title"] = value
        elif name == "description":
            found["body"] = marked(value, "", before=body)
        elif name == "labels":
            found["labels"] = list(value)
        elif name == "assignee":
            found["assignees"] = [login_of(value, server=server, own=own)] if value else []
    return found


def _domain(server: GitHubServer) -> str:
    return f"users.noreply.{server.host}"


def revision_of(raw: RawIssue) -> str:
    """GitHub's own time has seconds alone, so what can be changed is in it, too."""
    labels = sorted(one if isinstance(one, str) else one.name for one in raw.labels)
    people = sorted(one.login for one in raw.assignees)
    parts = (raw.title, raw.body, raw.state, labels, people, raw.comments)
    said = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
    return f"{raw.updated_at.isoformat()} {said}"

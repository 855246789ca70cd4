"""Issue trackers."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from integrations.contracts import Issue, Named
from integrations.contracts.people import Member
from integrations.ports.account import Reader, Writer

# What sorts an issue, as `IssuesWriter.change_issue` calls it.
Sorting = Literal["components", "labels", "priority", "duplicate_of"]


@runtime_checkable
class IssuesReader(Reader, Protocol):
    def issue(self, key: str) -> Issue: ...
    def settable(self, issue: Issue) -> Mapping[Sorting, Sequence[str] | None]:
        """What this user can set of the issue there: nothing else is to be suggested. Each with the
        values to choose from, as Remit writes them; None: the provider names none."""
        ...

    def projects(self) -> tuple[Named, ...]: ...
    def members(self, project_key: str) -> tuple[Member, ...]:
        """Everybody who may be given an issue of the project."""
        ...


@runtime_checkable
class IssuesWriter(Writer, Protocol):
    def create_issue(
        self,
        *,
        project_key: str,
        type: str,
        summary: str,
        description: str,
        priority: str | None,
        labels: Sequence[str],
        assignee: str | None,
        due_date: str | None,
        key: str,
    ) -> dict[str, Any]: ...
    def change_issue(
        self, issue_key: str, changes: Mapping[str, Any], *, revision: str | None, key: str
    ) -> dict[str, Any]: ...
    def comment_issue(
        self, issue_key: str, *, body: str, revision: str | None, key: str
    ) -> dict[str, Any]: ...

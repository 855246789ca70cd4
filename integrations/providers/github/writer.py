"""Writes to somebody's issues at GitHub. Only `integrations.accounts.writes` may import this
module."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import Rejected
from integrations.models import IssueWrite
from integrations.network.answers import parse
from integrations.ports.issues import IssuesWriter
from integrations.providers.account_writer import AccountWriter
from integrations.providers.github import evidence
from integrations.providers.github.issues import (
    RawComment,
    RawIssue,
    marked,
    path_of,
    path_of_issue,
    revision_of,
    split_key,
    to_fields,
)
from integrations.providers.github.reader import GitHubReader
from integrations.providers.trackers import writing
from integrations.providers.trackers.writing import Answer

SORTED = frozenset({"labels", "assignees"})
NO_SORTING = (
    "This token may not set labels and assignees in {name}: GitHub would drop them without a word."
)


class GitHubWriter(AccountWriter):
    """Satisfies `integrations.ports.issues.IssuesWriter`."""

    @cached_property
    def _reader(self) -> GitHubReader:
        return GitHubReader(self._account)

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
    ) -> Answer:
        path = f"{path_of(project_key)}/issues"
        row = self._start("create_issue", key, project=project_key)
        if row.state == IssueWrite.State.DONE:
            return dict(row.answer)
        self._reader.check_counts(project_key)
        wanted = {"type": type, "summary": summary, "priority": priority, "due_date": due_date}
        more = {"labels": labels, "assignee": assignee}
        fields = self._fields({**wanted, **{name: one for name, one in more.items() if one}})
        self._check_sorting(project_key, fields)

        def perform() -> Answer:
            body = {**fields, "body": marked(description, key)}
            found = self._send("POST", path, body)
            return evidence.answer_of(parse(RawIssue, found))

        return writing.once(row, perform, find=self._reader.find)

    def change_issue(
        self, issue_key: str, changes: Mapping[str, Any], *, revision: str | None, key: str
    ) -> Answer:
        path, project = path_of_issue(issue_key), split_key(issue_key)[0]
        row = self._start("change_issue", key, project=project, issue_key=issue_key)
        if row.state == IssueWrite.State.DONE:
            return dict(row.answer)
        raw = self._reader.raw(issue_key)
        if "assignee" in changes and len(raw.assignees) > 1:
            raise Rejected("Several people are assigned. Change that at GitHub.")
        fields = self._fields(changes, body=raw.body or "")
        self._check_sorting(project, fields)
        if row.state == IssueWrite.State.STARTED:
            writing.prepare_change(row, self._reader.read(raw), changes, revision=revision)

        def perform() -> Answer:
            found = self._send("PATCH", path, fields)
            changed = parse(RawIssue, found)
            return {**evidence.answer_of(changed), "revision": revision_of(changed)}

        return writing.once(row, perform, find=self._reader.find)

    def comment_issue(self, issue_key: str, *, body: str, revision: str | None, key: str) -> Answer:
        path, project = f"{path_of_issue(issue_key)}/comments", split_key(issue_key)[0]
        row = self._start("comment_issue", key, project=project, issue_key=issue_key)
        if row.state == IssueWrite.State.STARTED:
            issue = self._reader.issue(issue_key)
            writing.prepare_change(row, issue, {}, revision=revision)

        def perform() -> Answer:
            found = self._send("POST", path, {"body": marked(body, key)})
            return evidence.comment_answer(parse(RawComment, found))

        return writing.once(row, perform, find=self._reader.find)

    def _start(self, operation: str, key: str, *, project: str, issue_key: str = "") -> IssueWrite:
        return writing.start(self._account, key, operation, project=project, issue_key=issue_key)

    def _fields(self, changes: Mapping[str, Any], *, body: str = "") -> dict[str, Any]:
        server = self._reader.session.server
        return to_fields(changes, server=server, own=self._account.address, body=body)

    def _send(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        session = self._reader.session
        try:
            return session.send(method, path, body)
        finally:
            self.request_id = session.request_id

    def _check_sorting(self, project: str, fields: Mapping[str, Any]) -> None:
        """Raises Rejected where GitHub would take the rest and drop this."""
        if SORTED & fields.keys() and not self._reader.repository(project).may_sort:
            raise Rejected(NO_SORTING.format(name=project))


open_writer: Callable[[AccountRef], IssuesWriter] = GitHubWriter

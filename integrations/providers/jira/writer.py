"""Writes to somebody's issues at Jira. Only `integrations.accounts.writes` may import this
module."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound, ProviderError, Rejected
from integrations.models import IssueWrite
from integrations.network.answers import parse, rows
from integrations.network.outgoing import segment
from integrations.ports.issues import IssuesWriter
from integrations.providers.account_writer import AccountWriter
from integrations.providers.jira import evidence, listing
from integrations.providers.jira.issues import (
    NAMES,
    RawComment,
    RawIssue,
    Step,
    check_key,
    check_project,
    marked,
    to_field,
    write_text,
)
from integrations.providers.jira.reader import JiraReader
from integrations.providers.trackers import writing
from integrations.providers.trackers.writing import Answer


class JiraWriter(AccountWriter):
    """Satisfies `integrations.ports.issues.IssuesWriter`."""

    @cached_property
    def _reader(self) -> JiraReader:
        return JiraReader(self._account)

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
        row = self._start("create_issue", key, project=check_project(project_key))
        if row.state == IssueWrite.State.DONE:
            return dict(row.answer)
        server = self._reader.session.server
        if not server.counts(project_key):
            raise NotFound("the account leaves this project out")
        given = {
            "type": type,
            "summary": summary,
            "description": description,
            "priority": priority,
            "labels": labels,
            "due_date": due_date,
        }
        fields = {
            NAMES[name]: to_field(name, value, server=server)
            for name, value in given.items()
            if value
        }
        fields["project"] = {"key": project_key}
        if assignee:
            fields["assignee"] = self._person(assignee, {"project": project_key})

        def perform() -> Answer:
            found = self._send("POST", "/issue", {"fields": fields, "properties": marked(key)})
            made_key = str(found.get("key", "")) if isinstance(found, dict) else ""
            url = f"{server.base}/browse/{check_key(made_key)}"
            return {"id": str(found.get("id", "")), "key": made_key, "url": url}

        return writing.once(row, perform, find=self._reader.find)

    def change_issue(
        self, issue_key: str, changes: Mapping[str, Any], *, revision: str | None, key: str
    ) -> Answer:
        path = f"/issue/{segment(check_key(issue_key))}"
        row = self._start(
            "change_issue", key, project=issue_key.rpartition("-")[0], issue_key=issue_key
        )
        if row.state == IssueWrite.State.DONE:
            return dict(row.answer)
        if "duplicate_of" in changes:
            raise Rejected("Remit links no issues at Jira. Link them there.")
        raw = self._reader.raw(issue_key)
        fields = self._fields(path, raw, changes)
        step = self._step(path, raw, changes["status"]) if "status" in changes else None
        if row.state == IssueWrite.State.STARTED:
            writing.prepare_change(row, self._reader.read(raw), changes, revision=revision)

        def perform() -> Answer:
            if fields:
                self._send("PUT", path, {"fields": fields})
            if step is not None:
                self._take(path, step, half_done=bool(fields))
            return {**evidence.answer_of(self._reader.session, raw), **self._revision(issue_key)}

        return writing.once(row, perform, find=self._reader.find)

    def comment_issue(self, issue_key: str, *, body: str, revision: str | None, key: str) -> Answer:
        path = f"/issue/{segment(check_key(issue_key))}/comment"
        row = self._start(
            "comment_issue", key, project=issue_key.rpartition("-")[0], issue_key=issue_key
        )
        if row.state == IssueWrite.State.STARTED:
            writing.prepare_change(row, self._reader.issue(issue_key), {}, revision=revision)
        said = write_text(body, server=self._reader.session.server)

        def perform() -> Answer:
            found = self._send("POST", path, {"body": said, "properties": marked(key)})
            return {"id": parse(RawComment, found).id}

        return writing.once(row, perform, find=self._reader.find)

    def _fields(self, path: str, raw: RawIssue, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Raises Rejected for a field that this user may not change there, before anything is
        changed: Jira takes all of them or none."""
        found: dict[str, Any] = {}
        wanted = [name for name in NAMES if name in changes]
        if not wanted:
            return found
        editable = self._reader.editable(raw.key)
        for name in wanted:
            if NAMES[name] not in editable:
                words = name.replace("_", " ")
                raise Rejected(f"Jira does not let this user change the {words} of this issue.")
            value = changes[name]
            if name == "assignee":
                found["assignee"] = self._person(value, {"issueKey": raw.key}) if value else None
            else:
                server = self._reader.session.server
                found[NAMES[name]] = to_field(name, value, server=server)
        return found

    def _step(self, path: str, raw: RawIssue, status: str) -> str | None:
        """The step of the workflow that leads there; None: it is there. Raises Rejected where none
        does."""
        if raw.fields.status.name.casefold() == status.casefold():
            return None
        data = self._reader.session.get(f"{path}/transitions")
        listed = data.get("transitions") if isinstance(data, dict) else None
        steps = [parse(Step, one) for one in rows(listed)]
        for one in steps:
            if one.to.name.casefold() == status.casefold():
                return one.id
        known = ", ".join(sorted({f"“{one.to.name}”" for one in steps})) or "nowhere"
        raise Rejected(f"Jira's workflow leads from here to {known}, not to “{status}”.")

    def _take(self, path: str, step: str, *, half_done: bool) -> None:
        try:
            self._send("POST", f"{path}/transitions", {"transition": {"id": step}})
        except ProviderError as error:
            # The fields are changed already: a person has to look.
            error.outcome_unknown = error.outcome_unknown or half_done
            raise

    def _revision(self, issue_key: str) -> dict[str, str]:
        """Jira says nothing of it in its answer. The change is made, whatever becomes of this."""
        try:
            return {"revision": self._reader.issue(issue_key).revision}
        except ProviderError:
            return {}

    def _person(self, address: str, where: Mapping[str, str]) -> dict[str, str]:
        """Raises Rejected for an address, or a name that was read, that is not one person's who
        may be given it."""
        server = self._reader.session.server
        if address.casefold() == self._account.address.casefold():
            return {server.id_field: server.me}
        asked = {"query" if server.is_cloud else "username": address} if "@" in address else {}
        found = [
            one
            for one in listing.people(self._reader.session, {**where, **asked})
            if address.casefold() == (one.emailAddress or one.displayName).casefold()
        ]
        if len(found) != 1:
            raise Rejected(f"Jira shows nobody with the address {address} who may be given this.")
        name = found[0].accountId if server.is_cloud else found[0].name
        return {server.id_field: name}

    def _start(self, operation: str, key: str, *, project: str, issue_key: str = "") -> IssueWrite:
        return writing.start(self._account, key, operation, project=project, issue_key=issue_key)

    def _send(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        session = self._reader.session
        try:
            return session.send(method, path, body)
        finally:
            self.request_id = session.request_id


open_writer: Callable[[AccountRef], IssuesWriter] = JiraWriter

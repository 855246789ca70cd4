"""Writes to somebody's tickets at Request Tracker. Only `integrations.accounts.writes` may import
this module."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import Rejected
from integrations.models import IssueWrite
from integrations.ports.evidence import Performed
from integrations.ports.issues import IssuesWriter
from integrations.providers.account_writer import AccountWriter
from integrations.providers.request_tracker import evidence
from integrations.providers.request_tracker.reader import RtReader
from integrations.providers.request_tracker.session import items
from integrations.providers.request_tracker.tickets import (
    NOBODY,
    check_queue,
    check_ticket,
    marked,
    to_fields,
)
from integrations.providers.trackers import writing
from integrations.providers.trackers.writing import Answer


class RtWriter(AccountWriter):
    """Satisfies `integrations.ports.issues.IssuesWriter`."""

    @cached_property
    def _reader(self) -> RtReader:
        return RtReader(self._account)

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
        """Where the assignee may not own tickets there, RT gives it to nobody."""
        row = self._start("create_issue", key, project=check_queue(project_key))
        if row.state == IssueWrite.State.DONE:
            return dict(row.answer)
        field = self._reader.labels_of(project_key)
        given = {"type": type, "priority": priority, "due_date": due_date, "labels": labels}
        fields = to_fields({name: one for name, one in given.items() if one}, labels=field)
        if assignee:
            fields["Owner"] = self._owner(assignee)
        body = {"Queue": project_key, "Subject": summary, **marked(description, key), **fields}

        def perform() -> Answer:
            found = self._reader.session.send("POST", "/ticket", body)
            number = str(found.get("id", "")) if isinstance(found, dict) else ""
            return evidence.answer_of(self._reader.session.server.base, check_ticket(number))

        return writing.once(row, perform, find=self._reader.find)

    def change_issue(
        self, issue_key: str, changes: Mapping[str, Any], *, revision: str | None, key: str
    ) -> Answer:
        """RT takes each field by itself: what it did not take is found by looking again."""
        row = self._start("change_issue", key, issue_key=issue_key)
        if row.state == IssueWrite.State.DONE:
            return dict(row.answer)
        seen = self._reader.raw(issue_key)
        fields = to_fields(changes, labels=seen.ticket.labelled)
        if "assignee" in changes:
            who = changes["assignee"]
            fields["Owner"] = self._owner(who) if who else NOBODY
        if row.state == IssueWrite.State.STARTED:
            writing.prepare_change(row, self._reader.read(seen), changes, revision=revision)

        def perform() -> Answer:
            # RT itself refuses it where the ticket is another one by now.
            said = self._reader.session.send(
                "PUT", f"/ticket/{issue_key}", fields, condition=f'"{row.revision_before}"'
            )
            after = self._reader.issue(issue_key)
            if not isinstance(writing.judge_change(row, after), Performed):
                raise _not_taken(said, is_untouched=after.revision == row.revision_before)
            answer = evidence.answer_of(self._reader.session.server.base, issue_key)
            return {**answer, "revision": after.revision}

        return writing.once(row, perform, find=self._reader.find)

    def comment_issue(self, issue_key: str, *, body: str, revision: str | None, key: str) -> Answer:
        """A comment, which RT sends to those who work in the queue, and not to who asked."""
        row = self._start("comment_issue", key, issue_key=issue_key)
        if row.state == IssueWrite.State.STARTED:
            writing.prepare_change(row, self._reader.issue(issue_key), {}, revision=revision)

        def perform() -> Answer:
            # RT holds no comment to a version: a moment is left between look and write.
            self._reader.session.send("POST", f"/ticket/{issue_key}/comment", marked(body, key))
            return {"id": self._reader.session.created}

        return writing.once(row, perform, find=self._reader.find)

    def _owner(self, address: str) -> str:
        """Raises Rejected for an address that is not one person's there."""
        session = self._reader.session
        if address.casefold() == self._account.address.casefold():
            return session.server.me
        query = [{"field": "EmailAddress" if "@" in address else "Name", "value": address}]
        found = items(session.search("/users", query))
        names = [one["id"] for one in found if isinstance(one, dict) and "id" in one]
        if len(names) != 1:
            raise Rejected(f"RT shows nobody with the address {address}.")
        return str(names[0])

    def _start(
        self, operation: str, key: str, *, project: str = "", issue_key: str = ""
    ) -> IssueWrite:
        if issue_key:
            check_ticket(issue_key)
        return writing.start(self._account, key, operation, project=project, issue_key=issue_key)


def _not_taken(said: Any, *, is_untouched: bool) -> Rejected:
    words = "; ".join(map(str, said)) if isinstance(said, list) else ""
    error = Rejected("RT did not take it.", said=words[:300])
    # Else some fields are changed already: a person has to look.
    error.outcome_unknown = not is_untouched
    return error


open_writer: Callable[[AccountRef], IssuesWriter] = RtWriter

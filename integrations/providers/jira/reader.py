"""Reads of somebody's issues at Jira."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property

from integrations.contracts import AccountRef, AnyItem, Issue, Named, Page
from integrations.contracts.people import Member
from integrations.exceptions import CursorExpired, NotFound
from integrations.models import IssueWrite
from integrations.network.answers import parse
from integrations.network.outgoing import segment
from integrations.ports.evidence import Evidence
from integrations.ports.issues import IssuesReader, Sorting
from integrations.providers.jira import evidence, listing
from integrations.providers.jira.issues import (
    FIELDS,
    Comments,
    Editable,
    EditMeta,
    RawIssue,
    address_of,
    check_key,
    check_project,
    to_issue,
)
from integrations.providers.jira.session import JiraSession, session_of
from integrations.providers.trackers.reader import TrackerReader
from integrations.providers.trackers.session import Refused

OLDEST = datetime(1990, 1, 1, tzinfo=UTC)


class JiraReader(TrackerReader):
    """Satisfies `integrations.ports.issues.IssuesReader`."""

    @cached_property
    def session(self) -> JiraSession:
        return session_of(self._account)

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """In the order of their keys, which a change does not touch. A cursor names the time, so
        that each page asks the same."""
        start, _, place = (cursor or "|").partition("|")
        start = start or listing.moment(self.session, since or OLDEST)
        only = self.session.server.only
        within = f" AND project in ({', '.join(map(check_project, only))})" if only else ""
        query = f'updated >= "{start}"{within} ORDER BY key ASC'
        try:
            raws, following = listing.search(
                self.session, query, place=place, limit=min(limit, listing.AT_ONCE)
            )
        except Refused as error:
            if place and error.status == 400:
                raise CursorExpired("the place in the list is known no more") from error
            raise
        return Page(
            items=tuple(self.read(one) for one in raws),
            next_cursor=f"{start}|{following}" if following else None,
        )

    def issue(self, key: str) -> Issue:
        return self.read(self.raw(key))

    def raw(self, key: str) -> RawIssue:
        """By key or id. Raises NotFound, also where the account leaves its project out."""
        params = {"fields": ",".join(FIELDS)}
        found = parse(RawIssue, self.session.get(f"/issue/{segment(key)}", params))
        if not self.session.server.counts(found.fields.project.key):
            raise NotFound("the account leaves this project out")
        return found

    def editable(self, key: str) -> Mapping[str, Editable]:
        """The fields that this user may change of the issue, by Jira's names."""
        return parse(
            EditMeta, self.session.get(f"/issue/{segment(check_key(key))}/editmeta")
        ).fields

    def settable(self, issue: Issue) -> Mapping[Sorting, Sequence[str] | None]:
        """Remit links no issues there."""
        fields = self.editable(issue.key)
        names: tuple[Sorting, ...] = ("components", "labels", "priority")
        found = {one: fields[one].names for one in names if one in fields}
        if priorities := found.get("priority"):
            found["priority"] = [one.lower() for one in priorities]
        return found

    def read(self, raw: RawIssue) -> Issue:
        """With all its comments, where Jira gave some alone."""
        issue = to_issue(raw, server=self.session.server, own=self._account.address)
        if raw.fields.comment.total <= len(raw.fields.comment.comments):
            return issue
        all_of_them = Comments(comments=tuple(listing.comments(self.session, raw.key)))
        fields = raw.fields.model_copy(update={"comment": all_of_them})
        whole = raw.model_copy(update={"fields": fields})
        return to_issue(whole, server=self.session.server, own=self._account.address)

    def projects(self) -> tuple[Named, ...]:
        found = listing.projects(self.session)
        return tuple(Named(id=one.key, name=one.name or one.key) for one in found)

    def members(self, project_key: str) -> tuple[Member, ...]:
        """Those whose address Jira shows."""
        found = []
        for one in listing.people(self.session, {"project": check_project(project_key)}):
            address = address_of(one, server=self.session.server, own=self._account.address)
            if "@" in address:
                found.append(Member(address=address, name=one.displayName))
        return tuple(found)

    def find(self, row: IssueWrite) -> Evidence:
        """What became of a write that was sent."""
        return evidence.find(self.session, row, issue=self.issue)


open_reader: Callable[[AccountRef], IssuesReader] = JiraReader

"""Reads of somebody's issues at GitHub."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property

from integrations.contracts import AccountRef, AnyItem, Issue, Named, Page
from integrations.contracts.people import Member
from integrations.exceptions import NotFound
from integrations.models import IssueWrite
from integrations.network.answers import parse, rows
from integrations.ports.evidence import Evidence
from integrations.ports.issues import IssuesReader, Sorting
from integrations.providers.github import evidence
from integrations.providers.github.issues import (
    RawComment,
    RawIssue,
    Repository,
    Somebody,
    address_of,
    path_of,
    path_of_issue,
    project_of,
    split_key,
    to_issue,
)
from integrations.providers.github.session import PER_PAGE, GitHubSession, repositories, session_of
from integrations.providers.trackers.reader import TrackerReader
from integrations.providers.trackers.session import Params

OPENED = datetime(2007, 10, 1, tzinfo=UTC)  # nothing there is older


class GitHubReader(TrackerReader):
    """Satisfies `integrations.ports.issues.IssuesReader`."""

    @cached_property
    def session(self) -> GitHubSession:
        return session_of(self._account)

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """In the order of their changes. A cursor names the newest change that was read, and how
        many pages of that very second: what is changed meanwhile comes again at the end, and
        nothing is passed over."""
        start, _, number = (cursor or f"{_moment(since or OPENED)} 1").partition(" ")
        size, page = min(limit, PER_PAGE), int(number)
        params: Params = {
            "filter": "all",
            "state": "all",
            "sort": "updated",
            "direction": "asc",
            "since": start,
            "per_page": size,
            "page": page,
        }
        found = [parse(RawIssue, one) for one in rows(self.session.get("/issues", params))]
        following = None
        if len(found) >= size:
            last = _moment(found[-1].updated_at)
            following = f"{start} {page + 1}" if last <= start else f"{last} 1"
        issues = [
            self.read(one)
            for one in found
            if one.pull_request is None and self.session.server.counts(one.repository)
        ]
        return Page(items=tuple(issues), next_cursor=following)

    def issue(self, key: str) -> Issue:
        return self.read(self.raw(key))

    def raw(self, key: str) -> RawIssue:
        """Raises NotFound, also for a pull request and where the account leaves it out."""
        path = path_of_issue(key)
        self.check_counts(split_key(key)[0])
        found = parse(RawIssue, self.session.get(path))
        if found.pull_request is not None:
            raise NotFound("this is a pull request")
        return found

    def comments(self, key: str) -> list[RawComment]:
        path = f"{path_of_issue(key)}/comments"
        return [parse(RawComment, one) for one in self.session.listed(path)]

    def settable(self, issue: Issue) -> Mapping[Sorting, Sequence[str] | None]:
        """Its issues have neither components nor priorities, and Remit links none there."""
        return {"labels": None} if self.repository(issue.project_key).may_sort else {}

    def repository(self, project: str) -> Repository:
        return parse(Repository, self.session.get(path_of(project)))

    def check_counts(self, project: str) -> None:
        """Raises NotFound."""
        if not self.session.server.counts(project.replace(":", "/")):
            raise NotFound("the account leaves this repository out")

    def projects(self) -> tuple[Named, ...]:
        names = [one.full_name for one in repositories(self.session)]
        return tuple(Named(id=project_of(one), name=one) for one in names)

    def members(self, project_key: str) -> tuple[Member, ...]:
        people = self.session.listed(f"{path_of(project_key)}/assignees")
        logins = [parse(Somebody, one).login for one in people]
        return tuple(Member(address=self.address_of(one), name=one) for one in logins)

    def address_of(self, login: str) -> str:
        return address_of(login, server=self.session.server, own=self._account.address)

    def find(self, row: IssueWrite) -> Evidence:
        """What became of a write that was sent."""
        return evidence.find(self.session, row, issue=self.issue)

    def read(self, raw: RawIssue) -> Issue:
        comments = self.comments(raw.key) if raw.comments else []
        return to_issue(raw, comments, server=self.session.server, own=self._account.address)


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


open_reader: Callable[[AccountRef], IssuesReader] = GitHubReader

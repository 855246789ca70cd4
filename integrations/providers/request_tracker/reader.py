"""Reads of somebody's tickets at Request Tracker."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from integrations.contracts import AccountRef, AnyItem, Comment, Issue, Named, Page
from integrations.contracts.people import Member
from integrations.exceptions import CursorExpired, NotFound, NotPermitted
from integrations.models import IssueWrite
from integrations.network.answers import parse
from integrations.network.outgoing import segment
from integrations.ports.evidence import Evidence
from integrations.ports.issues import IssuesReader, Sorting
from integrations.providers.request_tracker import evidence, listing
from integrations.providers.request_tracker.session import PER_PAGE, RtSession, items, session_of
from integrations.providers.request_tracker.tickets import (
    CREATED,
    NOBODY,
    SAID,
    CustomField,
    Listed,
    Owned,
    RawTicket,
    User,
    check_queue,
    check_ticket,
    moment,
    text_of,
    to_issue,
)
from integrations.providers.trackers.reader import TrackerReader
from integrations.providers.trackers.session import Params

OLDEST = datetime(1996, 1, 1, tzinfo=UTC)  # nothing there is older
MAX_COMMENTS = 100  # the newest
FIELDS = "LastUpdated,Queue"


class Seen(NamedTuple):
    """A ticket, and the version that it had."""

    ticket: RawTicket
    etag: str


class RtReader(TrackerReader):
    """Satisfies `integrations.ports.issues.IssuesReader`."""

    @cached_property
    def session(self) -> RtSession:
        return session_of(self._account)

    @cached_property
    def queues(self) -> dict[str, str]:
        """The names of those that count, by their ids."""
        return listing.queues(self.session)

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """In the order of their numbers, which a change does not touch. A cursor is the last number
        of the page before."""
        last = cursor or "0"
        if not last.isdecimal():
            raise CursorExpired("the cursor is none of this tracker")
        size = min(limit, PER_PAGE)
        wanted = [f"id > {last}", "Type = 'ticket'", f"LastUpdated > '{moment(since or OLDEST)}'"]
        params: Params = {
            "query": " AND ".join(wanted),
            "fields": FIELDS,
            "orderby": "id",
            "order": "ASC",
            "per_page": size,
        }
        found = [parse(Listed, one) for one in items(self.session.get("/tickets", params))]
        wanted_ids = [
            one.id
            for one in found
            if one.Queue.id in self.queues and (since is None or one.LastUpdated >= _floor(since))
        ]
        return Page(
            items=tuple(self._there(wanted_ids)),
            next_cursor=found[-1].id if len(found) >= size else None,
        )

    def issue(self, key: str) -> Issue:
        return self.read(self.raw(key))

    def raw(self, key: str) -> Seen:
        """Raises NotFound, also where the account leaves its queue out."""
        queues = self.queues
        found = parse(RawTicket, self.session.get(f"/ticket/{check_ticket(key)}"))
        etag = self.session.etag
        if found.Queue.id not in queues:
            raise NotFound("the account leaves this queue out")
        return Seen(found, etag)

    def settable(self, issue: Issue) -> Mapping[Sorting, Sequence[str] | None]:
        """Tickets have no components, and Remit links none."""
        found: dict[Sorting, Sequence[str] | None] = {"priority": None}
        if self.raw(issue.key).ticket.labelled:
            found["labels"] = None
        return found

    def read(self, seen: Seen) -> Issue:
        """With what it began with, and its newest comments."""
        raw, etag = seen
        rows = list(listing.transactions(self.session, str(raw.id)))
        began = next((one for one in rows if one.Type == CREATED), None)
        said = [one for one in rows if one.Type in SAID][-MAX_COMMENTS:]
        first = listing.text(self.session, began) if began else None
        texts = [(one, listing.text(self.session, one)) for one in said]
        names = {raw.Owner.id, raw.Creator.id, *(one.Creator.id for one in said)} - {NOBODY}
        people = {name: self.address_of(name) for name in sorted(names)}
        return to_issue(
            raw,
            queue=self.queues[raw.Queue.id],
            etag=etag,
            base=self.session.server.base,
            description=text_of(first) if first else "",
            comments=[
                Comment(
                    id=one.id,
                    author=people[one.Creator.id],
                    body=text_of(found) if found else "",
                    created_at=one.Created,
                )
                for one, found in texts
            ],
            people=people,
        )

    def _there(self, ids: Iterable[str]) -> Iterator[Issue]:
        for id in ids:
            try:
                yield self.issue(id)
            except NotFound:
                continue  # gone meanwhile

    def projects(self) -> tuple[Named, ...]:
        return tuple(Named(id=name, name=name) for name in sorted(self.queues.values()))

    def labels_of(self, queue: str) -> CustomField | None:
        """What its tickets keep labels in. Raises NotFound for a queue that is not there, or that
        the account leaves out."""
        if queue.casefold() not in {one.casefold() for one in self.queues.values()}:
            raise NotFound("RT has no queue of this name")
        return listing.queue_of(self.session, queue).labelled

    def members(self, project_key: str) -> tuple[Member, ...]:
        """RT does not tell who may be given a ticket: the user, and who owns one there now."""
        query = f"Queue = '{check_queue(project_key)}' AND Owner != '{NOBODY}'"
        params: Params = {"query": query, "fields": "Owner", "per_page": PER_PAGE}
        owned = [parse(Owned, one) for one in items(self.session.get("/tickets", params))]
        names = {self.session.server.me, *(one.Owner.id for one in owned)}
        found = [one for one in map(self.user, sorted(names)) if one]
        return tuple(
            Member(address=self._address(one), name=one.RealName or one.Name) for one in found
        )

    def user(self, name: str) -> User | None:
        """None for somebody whom RT does not show."""
        if name not in self._users:
            try:
                self._users[name] = parse(User, self.session.get(f"/user/{segment(name)}"))
            except (NotFound, NotPermitted):
                self._users[name] = None
        return self._users[name]

    def address_of(self, name: str) -> str:
        """Their address; where RT does not show it, their name."""
        found = self.user(name)
        return self._address(found) if found else name

    def find(self, row: IssueWrite) -> Evidence:
        return evidence.find(self.session, row, issue=self.issue)

    @cached_property
    def _users(self) -> dict[str, User | None]:
        return {}

    def _address(self, user: User) -> str:
        is_me = user.Name == self.session.server.me
        return self._account.address if is_me else user.EmailAddress or user.Name


def _floor(at: datetime) -> datetime:
    return at.replace(microsecond=0)  # RT counts in seconds


open_reader: Callable[[AccountRef], IssuesReader] = RtReader

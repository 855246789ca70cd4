"""What stands in calendars: events of a span of time, what collides, and what is free. The
reading is one query; the rest is pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import QuerySet

from integrations.contracts.field_types import find_zone
from integrations.ports.calendar import occurrence_id
from knowledge.models import Occurrence

MOST_EVENTS = 200
Span = tuple[datetime, datetime]


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """One event at one time. `attendees` are (address, name, answer), the user among them;
    `free` says that the user's time is not taken by it: it lasts all day, or the user declined."""

    item_id: UUID
    source: str
    title: str
    starts_at: datetime
    ends_at: datetime
    all_day: bool
    place: str
    organiser: str
    attendees: tuple[tuple[str, str, str], ...]
    free: bool
    occurrence: str = ""  # the id of this one alone, where it is one of a series

    @property
    def span(self) -> Span:
        return self.starts_at, self.ends_at


def list_meetings(
    *, account_ids: Sequence[UUID], own: Iterable[str], since: datetime, until: datetime
) -> tuple[Meeting, ...]:
    """Events of these accounts that touch the span, in order of time, at most MOST_EVENTS; `own`
    are the user's addresses. Cancelled ones take place at no time. One query."""
    addresses = {address.lower() for address in own}
    rows = _occurrences(account_ids, since).filter(starts_at__lt=until)[:MOST_EVENTS]
    return tuple(_meeting(row, addresses) for row in rows)


def list_times(*, account_id: UUID, source_id: str, since: datetime) -> tuple[Meeting, ...]:
    """The times of one event that are not over then, the first one first, at most MOST_EVENTS. One
    query."""
    rows = _occurrences([account_id], since).filter(item__source_id=source_id)
    return tuple(_meeting(row, set()) for row in rows[:MOST_EVENTS])


def _occurrences(account_ids: Sequence[UUID], since: datetime) -> QuerySet[Occurrence]:
    rows = Occurrence.objects.filter(account_id__in=account_ids, ends_at__gt=since)
    return (
        rows.filter(item__deleted_at=None)
        .select_related("item")
        .defer("item__text", "item__search", "item__identifiers")
        .order_by("starts_at", "ends_at", "id")
    )


def _meeting(row: Occurrence, own: set[str]) -> Meeting:
    facts = row.item.metadata
    attendees = tuple(
        (str(one.get("email", "")).lower(), str(one.get("name", "")), str(one.get("status", "")))
        for one in facts.get("attendees") or ()
    )
    answers = {answer for address, _, answer in attendees if address in own}
    all_day = bool(facts.get("all_day"))
    return Meeting(
        item_id=row.item_id,
        source=row.item.source,
        title=row.item.title,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        all_day=all_day,
        place=str(facts.get("location") or ""),
        organiser=row.item.sender_address,
        attendees=attendees,
        free=all_day or answers == {"declined"},
        occurrence=_occurrence(row, all_day=all_day),
    )


def _occurrence(row: Occurrence, *, all_day: bool) -> str:
    facts = row.item.metadata
    if not facts.get("recurrence"):
        return ""
    zone = find_zone(str(facts.get("time_zone") or "")) or UTC
    start = row.starts_at.astimezone(zone)
    return occurrence_id(row.item.source_id, start.date() if all_day else start)


def find_conflicts(meetings: Sequence[Meeting]) -> tuple[tuple[Meeting, Meeting], ...]:
    """Pairs that take the user's time at once, in order."""
    taken = [one for one in meetings if not one.free]
    return tuple(
        (first, second)
        for index, first in enumerate(taken)
        for second in taken[index + 1 :]
        if second.starts_at < first.ends_at
    )


def takes_time_of(meeting: Meeting, address: str) -> bool:
    """Whether this other person is there, as far as the user's own calendar says."""
    return not meeting.all_day and any(
        one == address.lower() and answer != "declined" for one, _, answer in meeting.attendees
    )


def find_free(
    busy: Iterable[Span],
    *,
    since: datetime,
    until: datetime,
    minutes: int,
    zone: ZoneInfo,
    hours: Mapping[int, tuple[time, time]],
) -> tuple[Span, ...]:
    """Stretches of at least so many minutes inside the `hours` of each weekday (Monday is 0) that
    nothing of `busy` touches, in order, in `zone`."""
    spans = sorted(busy)
    found: list[Span] = []
    for opens, closes in _days(since.astimezone(zone), until.astimezone(zone), hours):
        start = opens
        for begins, ends in spans:
            if ends <= start or begins >= closes:
                continue
            if begins - start >= timedelta(minutes=minutes):
                found.append((start, begins.astimezone(zone)))
            start = max(start, ends.astimezone(zone))
        if closes - start >= timedelta(minutes=minutes):
            found.append((start, closes))
    return tuple(found)


def _days(
    since: datetime, until: datetime, hours: Mapping[int, tuple[time, time]]
) -> Iterable[Span]:
    one: date = since.date()
    while one <= until.date():
        if one.weekday() in hours:
            begins, ends = hours[one.weekday()]
            opens = max(since, datetime.combine(one, begins, tzinfo=since.tzinfo))
            closes = min(until, datetime.combine(one, ends, tzinfo=since.tzinfo))
            if opens < closes:
                yield opens, closes
        one += timedelta(days=1)

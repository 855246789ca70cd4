"""read_calendar: what takes place when, what collides, and when there is time."""

from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import Field

from agents.context import clock, facts
from agents.contracts import Person, ToolResult, failure
from agents.tools.base import Arguments, Tool, ToolContext
from agents.tools.retrieve_context import number_items
from integrations.contracts.preferences import DAYS, WorkingHours
from knowledge.search import agenda, retrieval
from knowledge.search.agenda import Meeting

LONGEST = timedelta(days=62)
MOST_FREE = 40
USUAL_MINUTES = 30
OTHERS = "Of other people only what stands in the user's own calendar is known."


class ReadCalendar(Arguments):
    """Times are the user's; `until` is not included."""

    since: datetime | date
    until: datetime | date | None = Field(default=None, description="One day, where it is absent.")
    free_minutes: int | None = Field(
        default=None, ge=5, le=720, description="Also find free slots at least this long."
    )
    people: list[str] = Field(
        default_factory=list, max_length=20, description="Addresses who must be free too."
    )
    day_begins: time | None = Field(default=None, description="Not the user's working hours.")
    day_ends: time | None = None
    weekends: bool = False


def run(context: ToolContext, arguments: ReadCalendar) -> ToolResult:
    person = context.person
    since = clock.aware(arguments.since, person.time_zone)
    until = clock.aware(arguments.until or since + timedelta(days=1), person.time_zone)
    if not since < until <= since + LONGEST:
        return failure(
            "INVALID_INPUT",
            f"until must come after since, at most {LONGEST.days} days later.",
            recoverable=True,
        )
    meetings = agenda.list_meetings(
        account_ids=[one.id for one in person.accounts],
        own=[one.address for one in person.accounts],
        since=since,
        until=until,
    )
    if len(meetings) == agenda.MOST_EVENTS:
        # With events left out, time that is taken would be called free.
        return failure(
            "INVALID_INPUT",
            f"There are {agenda.MOST_EVENTS} events or more in this span.",
            recoverable=True,
            suggested_action="Ask for a shorter span.",
        )
    numbers = _numbers(context, meetings)
    data: dict[str, Any] = {
        "events": [_described(one, numbers[one.item_id], person) for one in meetings]
    }
    if overlaps := agenda.find_conflicts(meetings):
        data["overlaps"] = [
            [numbers[first.item_id], numbers[second.item_id]] for first, second in overlaps
        ]
    # Who names people wants to know when they are free.
    minutes = arguments.free_minutes or (USUAL_MINUTES if arguments.people else 0)
    if minutes:
        data["free_minutes"] = minutes
        data["free"] = _free(arguments, meetings, since, until, person, minutes=minutes)
    if arguments.people:
        data["note"] = OTHERS
    return ToolResult(success=True, data=data, untrusted=True)


def _numbers(context: ToolContext, meetings: tuple[Meeting, ...]) -> dict[UUID, int]:
    """The number to cite each event by; the times of a series share one."""
    accounts = [one.id for one in context.person.accounts]
    ids = list(dict.fromkeys(one.item_id for one in meetings))
    items = retrieval.get_items(account_ids=accounts, ids=ids, chars=0)
    found = {item.id: n for item, n in zip(items, number_items(context, items), strict=True)}
    return {id: found.get(id, 0) for id in ids}


def _described(one: Meeting, n: int, person: Person) -> dict[str, Any]:
    found: dict[str, Any] = {
        "n": n,
        "id": str(one.item_id),
        "this_one_alone": one.occurrence,
        "title": one.title,
        "begins": clock.show(one.starts_at, person.time_zone),
        "ends": clock.show(one.ends_at, person.time_zone),
        "all_day": one.all_day or None,
        "place": one.place,
        "organiser": one.organiser,
        "attendees": [
            facts.attendee(name, address, answer) for address, name, answer in one.attendees
        ],
        "takes_no_time": one.free or None,
    }
    return facts.drop_empty(found)


def _free(
    arguments: ReadCalendar,
    meetings: tuple[Meeting, ...],
    since: datetime,
    until: datetime,
    person: Person,
    *,
    minutes: int,
) -> list[dict[str, str]]:
    busy = [
        (one.starts_at, one.ends_at)
        for one in meetings
        if not one.free or any(agenda.takes_time_of(one, who) for who in arguments.people)
    ]
    slots = agenda.find_free(
        busy,
        since=since,
        until=until,
        minutes=minutes,
        zone=ZoneInfo(person.time_zone),
        hours=_hours(arguments, person.working_hours),
    )
    return [
        {
            "begins": clock.show(begins, person.time_zone),
            "ends": clock.show(ends, person.time_zone),
        }
        for begins, ends in slots[:MOST_FREE]
    ]


def _hours(arguments: ReadCalendar, own: WorkingHours) -> dict[int, tuple[time, time]]:
    """When a slot may lie on each weekday: in the user's working hours, as far as the call names
    no others; at weekends as on the first of the days."""
    usual = next(iter(own.values()))
    days = {day: own.get(day, usual) for day in DAYS if day in own or day in DAYS[5:]}
    return {
        DAYS.index(day): (arguments.day_begins or hours.start, arguments.day_ends or hours.end)
        for day, hours in days.items()
        if arguments.weekends or day in own
    }


TOOL = Tool(
    name="read_calendar",
    description="Events of a span of time (a day without until) and, with free_minutes, free slots "
    "in working hours, for the user and people by address. Times like 2026-03-11T09:00.",
    arguments=ReadCalendar,
    run=run,
    note=": and free slots of the user and people by address; times like 2026-03-11T09:00",
    repeats=True,
)

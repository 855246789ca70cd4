"""Google's events as events of Remit. Pure."""

from datetime import UTC, datetime, time

from pydantic import ValidationError

from integrations.contracts import Event, Rejected
from integrations.contracts.field_types import find_zone
from integrations.exceptions import Malformed
from integrations.imports.calendar_files import MAX_ATTENDEES
from integrations.mail.addresses import is_addr_spec
from integrations.network.answers import parse
from integrations.ports.calendar import occurrence_id
from integrations.providers.calendars.ids import event_id
from integrations.providers.google_calendar.answers import CalendarSaid, EventSaid, When

MARK = "remit"  # among the properties that this account's programs alone see
# What people put there by themselves. Birthdays and places of work are no appointments.
KINDS = ["default", "fromGmail", "outOfOffice", "focusTime"]
ANSWERS = {"needsAction": "needs_action"}


def path_of(calendar: CalendarSaid, id: str) -> str:
    """Where an event is, or a series with all that was changed in it."""
    return f"{calendar.id}/{id}"


def read_said(row: object) -> EventSaid | None:
    try:
        return parse(EventSaid, row)
    except Malformed:
        return None


def mark_of(said: EventSaid) -> str:
    """The key of the write that made it what it is; empty for none of Remit's."""
    return said.extended.private.get(MARK, "")


def id_of(said: EventSaid, calendar: CalendarSaid) -> str:
    """Raises ValueError for one of a series that does not say which."""
    id = event_id(path_of(calendar, said.series or said.id))
    if not said.series:
        return id
    planned = said.planned.day or said.planned.at
    if planned is None:
        raise ValueError("one of a series without its planned start")
    return occurrence_id(id, planned)


def planned_of(said: EventSaid) -> str:
    """As an id names it; empty where it does not say."""
    planned = said.planned.day or said.planned.at
    return occurrence_id("", planned)[1:] if planned else ""


def describe(said: EventSaid, calendar: CalendarSaid) -> Event | Rejected:
    """Raises nothing: what does not fit is rejected whole."""
    try:
        return _event(said, calendar)
    except (ValueError, ValidationError, OverflowError):
        id = event_id(path_of(calendar, said.series or said.id))
        return Rejected(source_id=id, reason="malformed_event")


def _event(said: EventSaid, calendar: CalendarSaid) -> Event:
    zone = said.start.zone or calendar.zone
    # Of one that was cancelled, Google may tell no more than when it was planned.
    start = said.start if said.start.day or said.start.at else said.planned
    begin = _moment(start, zone)
    is_one = bool(said.series)
    return Event(
        id=id_of(said, calendar),
        revision=said.etag,
        updated_at=said.updated,
        time_zone=zone if find_zone(zone) else "",
        title=said.title,
        description=said.description,
        start=begin,
        end=_moment(said.end, zone) if said.end.day or said.end.at else begin,
        all_day=start.day is not None,
        status=said.status,
        location=said.location,
        attendees=tuple(
            {
                "email": one.email,
                "name": one.name[:200],
                "status": ANSWERS.get(one.answered, one.answered)[:20],
            }
            for one in said.attendees[:MAX_ATTENDEES]
        ),
        recurrence="\n".join(said.recurrence) or None,
        series_id=event_id(path_of(calendar, said.series)) if is_one else None,
        original_start=_moment(said.planned, zone) if is_one else None,
        meet_link=said.meet_link,
        created_by=_maker(said, calendar),
    )


def _moment(when: When, zone: str) -> datetime:
    """Raises ValueError."""
    local = find_zone(zone) or UTC
    if when.at is not None:
        return when.at.astimezone(local)
    if when.day is None:
        raise ValueError("no time")
    return datetime.combine(when.day, time(), local)


def _maker(said: EventSaid, calendar: CalendarSaid) -> str:
    """Who invited; empty where nobody knows, or where people come to it whom nobody can list. What
    was made in a calendar that is nobody's own was made by who put it there."""
    people = said.attendees
    hidden = said.people_left_out or len(people) > MAX_ATTENDEES
    if hidden or not all(is_addr_spec(one.email) for one in people):
        return ""
    organizer = said.organizer or said.creator
    is_shared = organizer.email == calendar.id and not calendar.primary
    return said.creator.email if is_shared else organizer.email

"""Microsoft's events as events of Remit. Pure."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, tzinfo
from zoneinfo import ZoneInfo

from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON
from pydantic import ValidationError

from integrations.contracts import Event, Rejected
from integrations.contracts.field_types import find_zone
from integrations.exceptions import Malformed
from integrations.imports.calendar_files import MAX_ATTENDEES
from integrations.mail.addresses import is_addr_spec
from integrations.network.answers import parse
from integrations.ports.calendar import occurrence_id
from integrations.providers.calendars.ids import event_id
from integrations.providers.microsoft.marks import mark_of as mark_among
from integrations.providers.microsoft_calendar.answers import CalendarSaid, EventSaid, When
from integrations.providers.microsoft_calendar.recurrence import rule_of

ANSWERS = {
    "none": "needs_action",
    "notResponded": "needs_action",
    "tentativelyAccepted": "tentative",
    "organizer": "accepted",
}
# One of a series that was cancelled is no event any more, and so has no version.
CANCELLED = "cancelled"


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
    return mark_among(said.marks)


def zone_of(name: str | None) -> ZoneInfo | None:
    """By the name that Windows gives it, or that of everybody else."""
    return find_zone(WINDOWS_TO_OLSON.get(name or "", name or ""))


def planned_of(said: EventSaid) -> str:
    """The planned start of one of a series, as an id names it; empty where it does not say."""
    try:
        planned = said.planned or moment(said.start)
    except ValueError:
        return ""
    if not said.of_days:
        return occurrence_id("", planned)[1:]
    local = planned.astimezone(UTC)
    if local.time() != time():  # midnight where the series was made
        local = planned.astimezone(zone_of(said.zone) or UTC)
    return occurrence_id("", local.date())[1:]


def changed_in(series: EventSaid) -> Iterator[EventSaid]:
    """Those of a series that were changed by themselves, and those that were cancelled, as they
    were planned."""
    for one in series.changed:
        if planned_of(one):
            yield one.model_copy(update={"series": series.id})
    for name in series.left_out:
        with suppress(ValueError, OverflowError):
            yield _cancelled(series, date.fromisoformat(name.rpartition(".")[2]))


def _cancelled(series: EventSaid, day: date) -> EventSaid:
    """Raises ValueError."""
    begin = moment(series.start)
    zone = UTC if series.of_days else zone_of(series.zone) or UTC
    at = datetime.combine(day, begin.astimezone(zone).time(), zone).astimezone(UTC)
    as_planned = {
        "etag": CANCELLED,
        "kind": "occurrence",
        "series": series.id,
        "planned": at,
        "start": _said(at),
        "end": _said(at + (moment(series.end) - begin)),
        "is_cancelled": True,
    }
    without = {"recurrence": None, "changed": (), "left_out": (), "marks": ()}
    return series.model_copy(update=as_planned | without)


def describe(said: EventSaid, calendar: CalendarSaid, *, me: str) -> Event | Rejected:
    """`me`: the address of the user. Raises nothing: what does not fit is rejected whole."""
    try:
        return _event(said, calendar, me.casefold())
    except (ValueError, ValidationError, OverflowError, KeyError):
        id = event_id(path_of(calendar, said.series or said.id))
        return Rejected(source_id=id, reason="malformed_event")


def _event(said: EventSaid, calendar: CalendarSaid, me: str) -> Event:
    local = zone_of(said.zone)
    zone: tzinfo = local or UTC
    series = event_id(path_of(calendar, said.series)) if said.series else None
    id = event_id(path_of(calendar, said.id))
    rule = said.recurrence
    return Event(
        id=f"{series}_{planned_of(said)}" if series else id,
        revision=said.etag,
        updated_at=said.updated,
        time_zone=local.key if local else "",
        title=said.title or "",
        description=_text(said),
        start=_begin(said.start, zone, of_days=bool(said.of_days)),
        end=_begin(said.end, zone, of_days=bool(said.of_days)),
        all_day=bool(said.of_days),
        status="cancelled" if said.is_cancelled else "confirmed",
        location=said.place.name or "" if said.place else "",
        attendees=tuple(_people(said, me)),
        recurrence=rule_of(rule, zone=zone, of_days=bool(said.of_days)) if rule else None,
        series_id=series,
        original_start=_planned(said, zone) if series else None,
        meet_link=said.meeting.url if said.meeting else None,
        created_by=_maker(said),
    )


def moment(when: When) -> datetime:
    """Raises ValueError."""
    at = datetime.fromisoformat(when.at)
    zone = zone_of(when.zone or "UTC")
    if zone is None:
        raise ValueError("a zone that nobody knows")
    return at.replace(tzinfo=at.tzinfo or zone)


def _begin(when: When, zone: tzinfo, *, of_days: bool) -> datetime:
    """Of a day, midnight in the event's own zone."""
    at = moment(when)
    return datetime.combine(at.date(), time(), zone) if of_days else at.astimezone(zone)


def _planned(said: EventSaid, zone: tzinfo) -> datetime:
    if not said.of_days:
        return (said.planned or moment(said.start)).astimezone(zone)
    day = datetime.strptime(planned_of(said), "%Y%m%d").date()  # noqa: DTZ007  # a day has no zone
    return datetime.combine(day, time(), zone)


def _said(at: datetime) -> When:
    return When(dateTime=f"{at:%Y-%m-%dT%H:%M:%S}", timeZone="UTC")


def _text(said: EventSaid) -> str:
    """Exchange ends its lines like a mail, and the text with one."""
    content = said.body.content if said.body else ""
    return content.replace("\r\n", "\n").rstrip("\n")


def _people(said: EventSaid, me: str) -> Iterator[dict[str, str]]:
    """How the user has answered stands in the event alone."""
    own = said.answered.how if said.answered else None
    for one in said.attendees[:MAX_ATTENDEES]:
        address = one.mail.address or ""
        how = (one.status.how if one.status else None) or "none"
        how = own or how if address.casefold() == me and not said.is_own else how
        status = ANSWERS.get(how, how)[:20]
        yield {"email": address, "name": (one.mail.name or "")[:200], "status": status}


def _maker(said: EventSaid) -> str:
    """Who invited; empty where nobody knows, or where people come to it whom nobody can list."""
    people = [one.mail.address or "" for one in said.attendees]
    hidden = (said.hides_people and not said.is_own) or len(people) > MAX_ATTENDEES
    if hidden or not all(is_addr_spec(one) for one in people):
        return ""
    return said.organizer.mail.address or "" if said.organizer else ""

"""The calendars of one account, open to be read."""

import re
from collections.abc import Iterator
from datetime import timedelta
from functools import cached_property
from typing import Any

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound, Rejected
from integrations.network.answers import parse
from integrations.providers.calendars.ids import at_of, planned_in
from integrations.providers.calendars.places import find_place
from integrations.providers.microsoft import marks
from integrations.providers.microsoft.session import GraphSession
from integrations.providers.microsoft_calendar.answers import (
    CalendarSaid,
    CalendarsSaid,
    ChangesSaid,
    EventSaid,
    EventsSaid,
)
from integrations.providers.microsoft_calendar.events import (
    changed_in,
    mark_of,
    planned_of,
    read_said,
)
from integrations.providers.signed_in.session import open_session

IS_ID = re.compile(r"[A-Za-z0-9_=-]{1,512}")
MAX_CALENDARS = 100
FIELDS = (
    "allowNewTimeProposals,attendees,body,createdDateTime,end,hideAttendees,isAllDay,isCancelled,"
    "isDraft,isOnlineMeeting,isOrganizer,lastModifiedDateTime,location,onlineMeeting,organizer,"
    "originalStart,originalStartTimeZone,recurrence,responseStatus,seriesMasterId,start,subject,"
    "type"
)
OF_SERIES = f"{FIELDS},cancelledOccurrences,exceptionOccurrences"
NO_DEFAULT = "This user has no calendar of their own at Microsoft."


class CalendarSession(GraphSession):
    # Times are in UTC where no zone is asked for.
    always = {
        "Prefer": f'{GraphSession.always["Prefer"]}, outlook.body-content-type="text", '
        "odata.maxpagesize=200"
    }


def list_calendars(session: CalendarSession) -> list[CalendarSaid]:
    """The user's own, the default one first: those of others need another consent. Raises Rejected
    where they have none."""
    wanted: dict[str, Any] = {
        "$select": "name,owner,canEdit,isDefaultCalendar",
        "$top": MAX_CALENDARS,
    }
    said = parse(CalendarsSaid, session.get("/me/calendars", wanted)).value
    default = next((one for one in said if one.is_default), None)
    if default is None:
        raise Rejected(NO_DEFAULT)
    owner = _owner(default)
    own = [one for one in said if _owner(one) == owner and IS_ID.fullmatch(one.id)]
    return sorted(own, key=lambda one: (not one.is_default, one.id))


class Calendars:
    def __init__(self, account: AccountRef) -> None:
        self.session, _ = open_session(account, CalendarSession)
        self.account = account

    @cached_property
    def all(self) -> list[CalendarSaid]:
        return list_calendars(self.session)

    def calendar_of(self, path: str) -> CalendarSaid:
        """Raises NotFound."""
        id = path.partition("/")[0]
        for one in self.all:
            if one.id == id:
                return one
        raise NotFound("the calendar is gone")

    def page(self, calendar: CalendarSaid, wanted: str, *, most: int) -> EventsSaid:
        """Events of a calendar, each series as one. `wanted` is the end of a page's link to the
        next, and empty for the first."""
        path = f"{place_of(calendar.id)}/events"
        if wanted:
            return parse(EventsSaid, self.session.get(f"{path}?{wanted}"))
        return parse(EventsSaid, self.session.get(path, {"$select": FIELDS, "$top": most}))

    def changes(self, calendar: CalendarSaid, *, since: str, until: str) -> ChangesSaid:
        """The first page of what takes place between these moments: its last one has the link to
        what changes from now on."""
        window = {"startDateTime": since, "endDateTime": until}
        path = f"{place_of(calendar.id)}/calendarView/delta"
        return parse(ChangesSaid, self.session.get(path, window))

    def more_changes(self, link: str) -> ChangesSaid:
        return parse(ChangesSaid, self.session.get(link))

    def get(self, path: str) -> EventSaid:
        """An event, or one of a series by the id that Microsoft gives it, with the mark of who
        wrote it. Raises NotFound."""
        wanted = {"$select": FIELDS, "$expand": marks.EXPANDED}
        return parse(EventSaid, self.session.get(url(path), wanted))

    def series(self, path: str) -> EventSaid:
        """A series with those of it that were changed or cancelled by themselves. Raises
        NotFound."""
        wanted = {"$select": OF_SERIES, "$expand": f"exceptionOccurrences,{marks.EXPANDED}"}
        return parse(EventSaid, self.session.get(url(path), wanted))

    def open(self, event_id: str) -> tuple[str, EventSaid]:
        """Where this very event is, and what is there. Raises NotFound for one that Remit has never
        seen, and for one that is gone; one of a series that was cancelled still has its own."""
        path = find_place(self.account, event_id).path
        return self.at(path, planned_in(event_id))

    def at(self, path: str, planned: str) -> tuple[str, EventSaid]:
        """The event at this place, or the one of its series that was planned for then."""
        if not planned:
            return path, self.get(path)
        for one in changed_in(self.series(path)):
            if planned_of(one) == planned:
                return (path, one) if one.is_cancelled else self._one(path, one)
        for one in self._instances(path, planned):
            if planned_of(one) == planned:
                return self._one(path, one)
        raise NotFound("the series has none then")

    def _one(self, path: str, said: EventSaid) -> tuple[str, EventSaid]:
        place = f"{path.partition('/')[0]}/{said.id}"
        return place, self.get(place)

    def made_by(self, calendar_id: str, key: str) -> tuple[str, EventSaid] | None:
        """Where the event is that the write with this key made, and what is there."""
        wanted = {"$filter": marks.having(key), "$select": FIELDS, "$expand": marks.EXPANDED}
        said = parse(EventsSaid, self.session.get(f"{place_of(calendar_id)}/events", wanted))
        for row in said.value:
            if (one := read_said(row)) is not None and mark_of(one) == key:
                return f"{calendar_id}/{one.id}", one
        return None

    def _instances(self, path: str, planned: str) -> Iterator[EventSaid]:
        try:
            at = at_of(planned, zone="UTC")
        except ValueError as error:
            raise NotFound("this is no time") from error
        day = timedelta(days=0 if "T" in planned else 1)
        window = {
            "startDateTime": f"{at - day:%Y-%m-%dT%H:%M:%SZ}",
            "endDateTime": f"{at + day + timedelta(minutes=1):%Y-%m-%dT%H:%M:%SZ}",
            "$select": FIELDS,
        }
        said = parse(EventsSaid, self.session.get(f"{url(path)}/instances", window))
        for row in said.value:
            if (one := read_said(row)) is not None and one.kind == "occurrence":
                yield one


def url(path: str) -> str:
    """Raises NotFound for what is no id."""
    calendar, _, event = path.partition("/")
    return f"{place_of(calendar)}/events/{_id(event)}"


def place_of(calendar: str) -> str:
    return f"/me/calendars/{_id(calendar)}"


def _id(text: str) -> str:
    if not IS_ID.fullmatch(text):
        raise NotFound("no such event")
    return text


def _owner(calendar: CalendarSaid) -> str:
    return (calendar.owner.address or "").casefold() if calendar.owner else ""

"""The calendars of one account, open to be read."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any
from urllib.parse import quote

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound, Rejected
from integrations.network.answers import parse
from integrations.providers.calendars.ids import at_of, planned_in
from integrations.providers.calendars.places import find_place
from integrations.providers.google.session import GoogleSession, session_of
from integrations.providers.google_calendar.answers import (
    CalendarSaid,
    CalendarsSaid,
    EventSaid,
    EventsSaid,
)
from integrations.providers.google_calendar.events import KINDS, planned_of, read_said

MAX_CALENDARS = 200
WRITABLE = frozenset({"writer", "owner"})
READABLE = WRITABLE | {"reader"}
NO_PRIMARY = "This user has no calendar of their own at Google."


def list_calendars(session: GoogleSession) -> list[CalendarSaid]:
    """Those whose events the user may read, the own one first."""
    found, page = list[CalendarSaid](), None
    while len(found) < MAX_CALENDARS:
        wanted: dict[str, Any] = {"maxResults": MAX_CALENDARS} | (
            {"pageToken": page} if page else {}
        )
        said = parse(CalendarsSaid, session.get("/users/me/calendarList", wanted))
        found += [one for one in said.items if one.access in READABLE and "/" not in one.id]
        page = said.next_page
        if page is None:
            break
    return sorted(found[:MAX_CALENDARS], key=lambda one: (not one.primary, one.id))


def primary_of(calendars: list[CalendarSaid]) -> CalendarSaid:
    """The user's own. Raises Rejected where there is none."""
    for one in calendars:
        if one.primary:
            return one
    raise Rejected(NO_PRIMARY)


class Calendars:
    def __init__(self, account: AccountRef) -> None:
        self.session = session_of(account)
        self.account = account

    @cached_property
    def all(self) -> list[CalendarSaid]:
        return list_calendars(self.session)

    def url(self, path: str) -> str:
        """Of an event, or of all in a calendar (`calendar/`)."""
        calendar_id, _, id = path.rpartition("/")
        events = f"/calendars/{quote(calendar_id, safe='')}/events"
        return f"{events}/{quote(id, safe='')}" if id else events

    def page(self, calendar: CalendarSaid, *, most: int, **wanted: str) -> EventsSaid:
        """Events of a calendar, each series as one, and beside it what was changed in it."""
        asked: dict[str, Any] = {"maxResults": most, "eventTypes": KINDS, **wanted}
        return parse(EventsSaid, self.session.get(self.url(f"{calendar.id}/"), asked))

    def calendar_of(self, path: str) -> CalendarSaid:
        """Raises NotFound."""
        calendar_id = path.rpartition("/")[0]
        for one in self.all:
            if one.id == calendar_id:
                return one
        raise NotFound("the calendar is gone")

    def open(self, event_id: str) -> tuple[str, EventSaid]:
        """Where this very event is, and what is there. Raises NotFound for one that Remit has never
        seen, and for one that there never was; one that is gone may still be there, cancelled."""
        path = find_place(self.account, event_id).path
        return self.at(path, planned_in(event_id))

    def at(self, path: str, planned: str) -> tuple[str, EventSaid]:
        """The event at this place, or the one of its series that was planned for then."""
        if not planned:
            return path, parse(EventSaid, self.session.get(self.url(path)))
        for one in self._instances(path, planned):
            if planned_of(one) == planned:
                return f"{path.rpartition('/')[0]}/{one.id}", one
        raise NotFound("the series has none then")

    def _instances(self, path: str, planned: str) -> Iterator[EventSaid]:
        try:
            at = at_of(planned, zone="UTC")
        except ValueError as error:
            raise NotFound("this is no time") from error
        when = f"{at:%Y-%m-%dT%H:%M:%SZ}" if "T" in planned else f"{at:%Y-%m-%d}"
        wanted = {"originalStart": when, "showDeleted": "true"}
        said = parse(EventsSaid, self.session.get(f"{self.url(path)}/instances", wanted))
        for row in said.items:
            if (one := read_said(row)) is not None:
                yield one

"""Reads of somebody's calendars at Google."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import IO

from integrations.contracts import AccountRef, AnyItem, Change, Event, Named, Page, Rejected
from integrations.contracts.people import Correspondence, Correspondent
from integrations.exceptions import CursorExpired, NotFound, Rejected as Refused
from integrations.ports.calendar import CalendarReader, Reply
from integrations.ports.evidence import Evidence
from integrations.providers.calendars.ids import planned_in
from integrations.providers.calendars.places import find_place, remember
from integrations.providers.google_calendar import events, evidence
from integrations.providers.google_calendar.answers import CalendarSaid
from integrations.providers.google_calendar.calendars import WRITABLE, Calendars


class GoogleCalendarReader:
    """Satisfies `integrations.ports.calendar.CalendarReader`."""

    def __init__(self, account: AccountRef) -> None:
        self._account = account

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """All events, calendar by calendar. The cursor names a calendar and a page of it."""
        return self._page({}, cursor=cursor, limit=limit)

    def items_in_window(
        self, *, since: datetime, cursor: str | None, limit: int, until: datetime | None = None
    ) -> Page[AnyItem]:
        """Those that take place then; of a series only where one of its events does."""
        window = {"timeMin": _zulu(since)} | ({"timeMax": _zulu(until)} if until else {})
        return self._page(window, cursor=cursor, limit=limit)

    def calendars(self) -> tuple[Named, ...]:
        found = Calendars(self._account).all
        return tuple(Named(id=one.id, name=one.own_name or one.name or one.id) for one in found)

    def item(self, item_id: str) -> AnyItem:
        return self.event(item_id)

    def event(self, event_id: str) -> Event:
        own = Calendars(self._account)
        path, said = own.open(event_id)
        if said.is_gone and not planned_in(event_id):
            raise NotFound("the event is not in its calendar any more")
        found = events.describe(said, own.calendar_of(path))
        if isinstance(found, Rejected):
            raise NotFound("the event cannot be read")
        return found

    def replies(self, event: Event) -> frozenset[Reply]:
        """Google takes no other time from a program."""
        own = Calendars(self._account)
        calendar = own.calendar_of(find_place(self._account, event.id).path)
        can = bool(event.revision) and calendar.access in WRITABLE
        return frozenset({"answer"}) if can else frozenset()

    def correspondence(self, address: str) -> Correspondence:
        return Correspondence(address=address, received=0, sent=0)

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        return ()

    def evidence(self, key: str) -> Evidence:
        return evidence.find(self._account, key)

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        raise NotFound("a calendar keeps no files")

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        raise NotFound("Google's calendars keep no history")

    def _page(self, window: dict[str, str], *, cursor: str | None, limit: int) -> Page[AnyItem]:
        own = Calendars(self._account)
        calendars, number, page = own.all, 0, ""
        if cursor:
            calendar_id, _, page = cursor.partition(" ")
            ids = [one.id for one in calendars]
            if calendar_id not in ids:
                raise CursorExpired("the calendar is gone")
            number = ids.index(calendar_id)
        for at, calendar in enumerate(calendars[number:], start=number):
            wanted = window | ({"pageToken": page} if page else {})
            try:
                said = own.page(calendar, most=limit, **wanted)
            except Refused as error:
                if not page:
                    raise
                raise CursorExpired("the cursor is none of this calendar") from error
            entries = self._entries(calendar, said.items)
            following = f"{calendars[at + 1].id} " if calendars[at + 1 :] else None
            rest = f"{calendar.id} {said.next_page}" if said.next_page else None
            page = ""
            if entries or rest:
                return Page(
                    items=tuple(one for one in entries if isinstance(one, Event)),
                    rejected=tuple(one for one in entries if isinstance(one, Rejected)),
                    next_cursor=rest or following,
                )
        return Page(items=(), next_cursor=None)

    def _entries(
        self, calendar: CalendarSaid, rows: tuple[dict[str, object], ...]
    ) -> list[Event | Rejected]:
        found, parts = list[Event | Rejected](), dict[str, list[str]]()
        for row in rows:
            said = events.read_said(row)
            if said is None:
                found.append(
                    Rejected(source_id=str(row.get("id", ""))[:200], reason="malformed_event")
                )
                continue
            if said.is_gone and not said.series:
                continue
            one = events.describe(said, calendar)
            path = events.path_of(calendar, said.series or said.id)
            seen = parts.setdefault(path, [])
            if said.series and isinstance(one, Event):
                seen.append(one.id)
            found.append(one)
        remember(self._account, parts)
        return found


def _zulu(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


open_reader: Callable[[AccountRef], CalendarReader] = GoogleCalendarReader

"""Reads of somebody's calendars."""

from collections.abc import Callable
from datetime import datetime
from typing import IO

from django.utils import timezone

from integrations.contracts import AccountRef, AnyItem, Change, Event, Named, Page, Rejected
from integrations.contracts.people import Correspondence, Correspondent
from integrations.exceptions import CursorExpired, NotFound
from integrations.ports.calendar import CalendarReader, Reply
from integrations.ports.evidence import Evidence
from integrations.providers.caldav import events, evidence
from integrations.providers.caldav.calendars import STRONG, Calendars
from integrations.providers.calendars.ids import place_id
from integrations.providers.calendars.places import remember


class CalDavReader:
    """Satisfies `integrations.ports.calendar.CalendarReader`."""

    def __init__(self, account: AccountRef) -> None:
        self._account = account

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """All events, calendar by calendar: a server does not tell what was changed since a time.
        The cursor names a calendar and the last resource in it."""
        return self._page(since=None, cursor=cursor, limit=limit)

    def items_in_window(
        self, *, since: datetime, cursor: str | None, limit: int, until: datetime | None = None
    ) -> Page[AnyItem]:
        """Those that take place then; of a series only where one of its events does."""
        return self._page(since=since, cursor=cursor, limit=limit, until=until)

    def calendars(self) -> tuple[Named, ...]:
        found = Calendars(self._account).all()
        return tuple(Named(id=one.path, name=one.name or one.path) for one in found)

    def item(self, item_id: str) -> AnyItem:
        return self._find(item_id, at=timezone.now())

    def event(self, event_id: str) -> Event:
        return self._find(event_id, at=None)

    def replies(self, event: Event) -> frozenset[Reply]:
        """RFC 6638 passes on no other time."""
        own = Calendars(self._account)
        if not (own.server.schedules and event.revision.startswith(STRONG)):
            return frozenset()
        calendar = own.calendar_of(own.place(event.id).path)
        return frozenset({"answer"}) if calendar.is_writable else frozenset()

    def correspondence(self, address: str) -> Correspondence:
        return Correspondence(address=address, received=0, sent=0)

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        return ()

    def evidence(self, key: str) -> Evidence:
        return evidence.find(self._account, key)

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        raise NotFound("a calendar server keeps no files")

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        raise NotFound("a calendar server keeps no history")

    def _find(self, id: str, *, at: datetime | None) -> Event:
        own = Calendars(self._account)
        path = own.place(id).path
        calendar = own.calendar_of(path)
        found = own.open(path, is_own=calendar.is_own, at=at)
        present = {one.id: one for one in found.entries if isinstance(one, Event)}
        one, series = present.get(id), present.get(place_id(id))
        if one is None and series is not None and series.recurrence:
            one = events.read_one(series, found.raw, id, zone=self._account.time_zone)
        if one is None:
            raise NotFound("the event is not in its calendar any more")
        return one

    def _page(
        self,
        *,
        since: datetime | None,
        cursor: str | None,
        limit: int,
        until: datetime | None = None,
    ) -> Page[AnyItem]:
        own, at = Calendars(self._account), timezone.now()
        calendars = own.all()
        number = 0
        last = ""
        if cursor:
            folder, _, last = cursor.partition(" ")
            paths = [one.path for one in calendars]
            if folder not in paths:
                raise CursorExpired("the calendar is gone")
            number = paths.index(folder)
        for calendar in calendars[number:]:
            found = (
                own.paths_between(calendar, since, until) if since else list(own.etags(calendar))
            )
            waiting = [path for path in sorted(found) if path > last]
            fetched = list(own.fetch(calendar, waiting[:limit], at=at))
            remember(self._account, {one.path: one.ids for one in fetched})
            number, last = number + 1, ""
            rest = f"{calendar.path} {waiting[limit - 1]}" if waiting[limit:] else None
            following = f"{calendars[number].path} " if calendars[number:] else None
            entries = [entry for one in fetched for entry in one.entries]
            if entries or rest:
                return Page(
                    items=tuple(one for one in entries if isinstance(one, Event)),
                    rejected=tuple(one for one in entries if isinstance(one, Rejected)),
                    next_cursor=rest or following,
                )
        return Page(items=(), next_cursor=None)


open_reader: Callable[[AccountRef], CalendarReader] = CalDavReader

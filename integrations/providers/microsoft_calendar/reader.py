"""Reads of somebody's calendars at Microsoft."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import IO

from integrations.contracts import AccountRef, AnyItem, Change, Event, Named, Page, Rejected
from integrations.contracts.people import Correspondence, Correspondent
from integrations.exceptions import CursorExpired, NotFound, Rejected as Refused
from integrations.ports.calendar import CalendarReader, Reply
from integrations.ports.evidence import Evidence
from integrations.providers.calendars.places import remember
from integrations.providers.microsoft_calendar import events, evidence
from integrations.providers.microsoft_calendar.answers import CalendarSaid, EventSaid
from integrations.providers.microsoft_calendar.calendars import Calendars


class GraphCalendarReader:
    """Satisfies `integrations.ports.calendar.CalendarReader`."""

    def __init__(self, account: AccountRef) -> None:
        self._account = account

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """All events, calendar by calendar. The cursor names a calendar and a page of it."""
        return self._page(None, None, cursor=cursor, limit=limit)

    def items_in_window(
        self, *, since: datetime, cursor: str | None, limit: int, until: datetime | None = None
    ) -> Page[AnyItem]:
        """Microsoft lists either each of a series by itself or everything there is, so it is asked
        for everything."""
        return self._page(since, until, cursor=cursor, limit=limit)

    def calendars(self) -> tuple[Named, ...]:
        found = Calendars(self._account).all
        return tuple(Named(id=one.id, name=one.name or one.id) for one in found)

    def item(self, item_id: str) -> AnyItem:
        return self.event(item_id)

    def event(self, event_id: str) -> Event:
        own = Calendars(self._account)
        path, said = own.open(event_id)
        found = self._described(said, own.calendar_of(path))
        if isinstance(found, Rejected):
            raise NotFound("the event cannot be read")
        return found

    def replies(self, event: Event) -> frozenset[Reply]:
        """Another time only where who invites wants to hear of it."""
        own = Calendars(self._account)
        path, said = own.open(event.id)
        if said.is_own or said.is_cancelled or not own.calendar_of(path).can_edit:
            return frozenset()
        return frozenset({"answer", "time"} if said.takes_times else {"answer"})

    def correspondence(self, address: str) -> Correspondence:
        return Correspondence(address=address, received=0, sent=0)

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        return ()

    def evidence(self, key: str) -> Evidence:
        return evidence.find(self._account, key)

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        raise NotFound("a calendar keeps no files")

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        raise NotFound("Microsoft's calendars keep no history")

    def _page(
        self, since: datetime | None, until: datetime | None, *, cursor: str | None, limit: int
    ) -> Page[AnyItem]:
        own = Calendars(self._account)
        calendars, number, wanted = own.all, 0, ""
        if cursor:
            calendar_id, _, wanted = cursor.partition(" ")
            ids = [one.id for one in calendars]
            if calendar_id not in ids:
                raise CursorExpired("the calendar is gone")
            number = ids.index(calendar_id)
        for at, calendar in enumerate(calendars[number:], start=number):
            entries = list[Event | Rejected]()
            while True:
                try:
                    said = own.page(calendar, wanted, most=limit)
                except Refused as error:
                    if not wanted:
                        raise
                    raise CursorExpired("the cursor is none of this calendar") from error
                wanted = (said.next_link or "").partition("?")[2]
                entries += self._entries(own, calendar, said.value, since, until)
                if len(entries) >= limit or not wanted:
                    break
            following = f"{calendars[at + 1].id} " if calendars[at + 1 :] else None
            rest = f"{calendar.id} {wanted}" if wanted else None
            if entries or rest:
                return Page(
                    items=tuple(one for one in entries if isinstance(one, Event)),
                    rejected=tuple(one for one in entries if isinstance(one, Rejected)),
                    next_cursor=rest or following,
                )
        return Page(items=(), next_cursor=None)

    def _entries(
        self,
        own: Calendars,
        calendar: CalendarSaid,
        rows: tuple[dict[str, object], ...],
        since: datetime | None,
        until: datetime | None,
    ) -> Iterator[Event | Rejected]:
        parts = dict[str, list[str]]()
        for row in rows:
            said = events.read_said(row)
            if said is None:
                id = str(row.get("id", ""))[:200]
                yield Rejected(source_id=id, reason="malformed_event")
                continue
            if said.series:
                continue  # it comes with its series
            one = self._described(said, calendar)
            if isinstance(one, Event) and not _is_within(one, since, until):
                continue
            path = events.path_of(calendar, said.id)
            changed = list(self._changed(own, path, calendar)) if said.recurrence else []
            parts[path] = [part.id for part in changed]
            yield one
            yield from changed
        remember(self._account, parts)

    def _changed(self, own: Calendars, path: str, calendar: CalendarSaid) -> Iterator[Event]:
        """What was changed in a series, or left out of it."""
        try:
            series = own.series(path)
        except NotFound:
            return  # since it was listed
        for said in events.changed_in(series):
            found = self._described(said, calendar)
            if isinstance(found, Event):
                yield found

    def _described(self, said: EventSaid, calendar: CalendarSaid) -> Event | Rejected:
        return events.describe(said, calendar, me=self._account.address)


def _is_within(event: Event, since: datetime | None, until: datetime | None) -> bool:
    """Of a series, only where it has not begun by then."""
    if until is not None and event.start >= until:
        return False
    return since is None or bool(event.recurrence) or event.end >= since


open_reader: Callable[[AccountRef], CalendarReader] = GraphCalendarReader

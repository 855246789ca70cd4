"""What has happened in somebody's calendars at Google since they were last looked at.

Each calendar has a mark (`CalendarMark`): the token that Google gave for what was seen. Google
tells what has changed since; where it has lost the token (410), all events are listed anew and
compared with the versions that were seen, so nothing is missed. At the first look at an account its
calendars get marks and nothing else. In a calendar that is added later, what was made long ago is
no new event.
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.utils import timezone

from integrations.contracts import AccountRef, Event
from integrations.exceptions import CursorExpired, Rejected
from integrations.models import CalendarMark, CalendarPlace
from integrations.providers import item_events
from integrations.providers.calendars.changes import Looked
from integrations.providers.calendars.ids import event_id
from integrations.providers.google_calendar import events
from integrations.providers.google_calendar.answers import CalendarSaid, EventSaid
from integrations.providers.google_calendar.calendars import Calendars

AT_ONCE = 250
NEW_WITHIN = timedelta(days=2)
Named = item_events.Event


@dataclass(kw_only=True)
class _Look:
    """One calendar's. `is_first`: nothing in it is news. What was made before `new_since` is news
    and no new event, where all is listed."""

    own: Calendars
    calendar: CalendarSaid
    is_first: bool
    new_since: datetime
    present: set[str] = field(default_factory=set)

    def read(self, rows: Iterable[dict[str, object]], *, whole: bool) -> Looked:
        said = [one for one in map(events.read_said, rows) if one is not None]
        wanted = {events.path_of(self.calendar, one.series or one.id) for one in said}
        self.present |= wanted
        places = {path: self._new_place(path) for path in wanted}
        known = CalendarPlace.objects.filter(account_id=self.own.account.id, path__in=wanted)
        places |= {row.path: row for row in known}
        out = list[Named]()
        for one in said:
            row = places[events.path_of(self.calendar, one.series or one.id)]
            if one.series:
                out += self._one_of_series(row, one)
            elif one.is_gone:
                out += _gone(self.own, row)
            else:
                out += self._whole_event(row, one, whole=whole)
        return Looked(events=() if self.is_first else tuple(out), places=tuple(places.values()))

    def _whole_event(self, row: CalendarPlace, said: EventSaid, *, whole: bool) -> list[Named]:
        if row.etag == said.etag:
            return []
        is_old = whole and said.created is not None and said.created < self.new_since
        kind: item_events.Kind = "updated" if row.pk or is_old else "created"
        row.etag = said.etag
        return self._seen(kind, said)

    def _one_of_series(self, row: CalendarPlace, said: EventSaid) -> list[Named]:
        found = self._seen("updated", said)
        row.parts = sorted({*row.parts, *(one.source_id for _, one in found)})
        return found

    def _seen(self, kind: item_events.Kind, said: EventSaid) -> list[Named]:
        found = events.describe(said, self.calendar)
        if not isinstance(found, Event):
            return []
        return [(f"google {said.etag}", item_events.seen(self.own.account, kind, found))]

    def _new_place(self, path: str) -> CalendarPlace:
        return CalendarPlace(account_id=self.own.account.id, event_id=event_id(path), path=path)


def look(account: AccountRef, *, seen_at: datetime | None = None) -> Generator[Looked]:
    """Calendar by calendar, page by page. Keep each before going on. Raises ProviderError."""
    own, now = Calendars(account), timezone.now()
    marks = {one.path: one for one in CalendarMark.objects.filter(account_id=account.id)}
    is_first = not marks
    since = min(now, seen_at or now) - NEW_WITHIN
    for calendar in own.all:
        mark = marks.pop(calendar.id, None)
        token = mark.token if mark else ""
        step = _Look(own=own, calendar=calendar, is_first=is_first, new_since=since)
        try:
            yield from _pages(step, token)
        except (CursorExpired, Rejected):
            if not token:
                raise
            # Google has lost it.
            yield from _pages(replace(step, present=set()), "")
    for mark in marks.values():
        yield _removed(own, _places(own, mark.path), lost=mark)


def _pages(step: _Look, token: str) -> Generator[Looked]:
    """The mark is kept with the last page alone: what came before is seen again after a fall, and
    stored once."""
    wanted = {"syncToken": token} if token else {}
    while True:
        said = step.own.page(step.calendar, most=AT_ONCE, **wanted)
        yield step.read(said.items, whole=not token)
        if said.next_page is None:
            break
        wanted["pageToken"] = said.next_page
    mark = _mark(step.own.account, step.calendar.id, said.next_token)
    known = _places(step.own, step.calendar.id) if not token else []
    yield _removed(step.own, [row for row in known if row.path not in step.present], mark=mark)


def _removed(
    own: Calendars,
    rows: list[CalendarPlace],
    *,
    mark: CalendarMark | None = None,
    lost: CalendarMark | None = None,
) -> Looked:
    out = [one for row in rows for one in _gone(own, row)]
    return Looked(events=tuple(out), places=tuple(rows), mark=mark, lost=lost)


def _gone(own: Calendars, row: CalendarPlace) -> list[Named]:
    if not row.etag:
        return []
    found = [
        (f"google gone {row.etag}", item_events.gone(own.account, id))
        for id in dict.fromkeys([row.event_id, *row.parts])
    ]
    row.etag, row.parts = "", []
    return found


def _places(own: Calendars, calendar_id: str) -> list[CalendarPlace]:
    """What was seen in a calendar."""
    rows = CalendarPlace.objects.filter(account_id=own.account.id).exclude(etag="")
    return list(rows.filter(path__startswith=f"{calendar_id}/"))


def _mark(account: AccountRef, path: str, token: str) -> CalendarMark:
    return CalendarMark(account_id=account.id, path=path, token=token)

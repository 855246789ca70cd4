"""What has happened in somebody's calendars at Microsoft since they were last looked at.

Each calendar has a mark (`CalendarMark`): the link that Graph gave to what changes from then on. It
is made for a window of time; of what lies outside, Graph says no more than that something happened,
and each event is asked for by itself. Where Graph has lost the link, and every 30 days, all events
are listed anew and compared with the versions that were seen. At the first look at an account its
calendars get marks and nothing else. In a calendar that is added later, what was made long ago is
no new event.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from integrations.contracts import AccountRef, Event
from integrations.exceptions import CursorExpired, NotFound
from integrations.models import CalendarMark, CalendarPlace
from integrations.providers import item_events
from integrations.providers.calendars.changes import Looked
from integrations.providers.calendars.ids import event_id
from integrations.providers.microsoft_calendar import events
from integrations.providers.microsoft_calendar.answers import (
    CalendarSaid,
    ChangesSaid,
    EventSaid,
)
from integrations.providers.microsoft_calendar.calendars import Calendars

AT_ONCE = 200
NEW_WITHIN = timedelta(days=2)
BEHIND, AHEAD = timedelta(days=31), timedelta(days=365)
LASTS = timedelta(days=30)
Named = item_events.Event


@dataclass(frozen=True, kw_only=True)
class _Look:
    """One calendar's. What was made before `new_since` is news and no new event; what was changed
    in a series before then has been seen."""

    own: Calendars
    calendar: CalendarSaid
    new_since: datetime

    def happened(self, id: str) -> Looked:
        """To an event, a series, or one of a series whose id nobody knew."""
        path = events.path_of(self.calendar, id)
        row = self._places([path])[path]
        try:
            said = self.own.get(path)
            if said.series:
                return self.happened(said.series)
            return self.seen(row, said)
        except NotFound:
            return Looked(events=tuple(_gone(self.own, row)), places=(row,) if row.pk else ())

    def seen(self, row: CalendarPlace, said: EventSaid) -> Looked:
        """Raises NotFound for a series that goes meanwhile."""
        out = list[Named]()
        is_new = not row.pk and (said.created is None or said.created >= self.new_since)
        if row.etag != said.etag:
            out += self._events("created" if is_new else "updated", said, said.etag)
        row.etag = said.etag
        if said.recurrence:
            for one in events.changed_in(self.own.series(row.path)):
                out += self._one_of_series(row, one)
        return Looked(events=tuple(out), places=(row,))

    def _one_of_series(self, row: CalendarPlace, said: EventSaid) -> list[Named]:
        found = self._events("updated", said, f"{said.etag} {events.planned_of(said)}")
        ids = {one.source_id for _, one in found}
        is_old = said.is_cancelled or (said.updated is not None and said.updated < self.new_since)
        if is_old and ids <= set(row.parts):
            return []
        row.parts = sorted({*row.parts, *ids})
        return found

    def list_all(self) -> Iterator[tuple[CalendarPlace, EventSaid]]:
        """Everything that is in the calendar now, each series as one."""
        wanted = ""
        while True:
            page = self.own.page(self.calendar, wanted, most=AT_ONCE)
            rows = [one for row in page.value if (one := events.read_said(row)) is not None]
            said = {events.path_of(self.calendar, one.id): one for one in rows if not one.series}
            places = self._places(list(said))
            yield from ((places[path], said[path]) for path in said)
            wanted = (page.next_link or "").partition("?")[2]
            if not wanted:
                return

    def _events(self, kind: item_events.Kind, said: EventSaid, version: str) -> list[Named]:
        found = events.describe(said, self.calendar, me=self.own.account.address)
        if not isinstance(found, Event):
            return []
        return [(f"graph {version}", item_events.seen(self.own.account, kind, found))]

    def _places(self, paths: list[str]) -> dict[str, CalendarPlace]:
        account = self.own.account.id
        known = CalendarPlace.objects.filter(account_id=account, path__in=paths)
        new = (CalendarPlace(account_id=account, event_id=event_id(one), path=one) for one in paths)
        return {row.path: row for row in new} | {row.path: row for row in known}


def look(account: AccountRef, *, seen_at: datetime | None = None) -> Generator[Looked]:
    """Calendar by calendar, event by event. Keep each before going on. Raises ProviderError."""
    own, now = Calendars(account), timezone.now()
    marks = {one.path: one for one in CalendarMark.objects.filter(account_id=account.id)}
    is_first, new_since = not marks, min(now, seen_at or now) - NEW_WITHIN
    for calendar in own.all:
        step = _Look(own=own, calendar=calendar, new_since=new_since)
        mark = marks.pop(calendar.id, None)
        since, _, link = mark.link.partition(" ") if mark else ("", "", "")
        try:
            if not link or now - datetime.fromisoformat(since) > LASTS:
                raise CursorExpired("it is time for another one")
            yield from _changed(step, step.own.more_changes(link), since)
        except CursorExpired:
            yield from _listed(step, now, is_first=is_first)
    for mark in marks.values():
        rows = _known(own, mark.path)
        out = [one for row in rows for one in _gone(own, row)]
        yield Looked(events=tuple(out), places=tuple(rows), lost=mark)


def _changed(step: _Look, page: ChangesSaid, since: str) -> Iterator[Looked]:
    """The link is kept with the last event alone: what came before is seen again after a fall, and
    stored once."""
    done = set[str]()
    for rows in _pages(step, page):
        for one in rows.value:
            if (id := one.series or one.id) not in done:
                done.add(id)
                yield step.happened(id)
        if rows.delta_link:
            yield _marked(step, rows.delta_link, since)


def _listed(step: _Look, now: datetime, *, is_first: bool) -> Iterator[Looked]:
    """First the link, and then what is there: nothing happens between them unseen."""
    window = {"since": _zulu(now - BEHIND), "until": _zulu(now + AHEAD)}
    link = ""
    for rows in _pages(step, step.own.changes(step.calendar, **window)):
        link = rows.delta_link or link
    present = set[str]()
    for row, said in step.list_all():
        present.add(row.path)
        if is_first:
            row.etag = said.etag
            yield Looked(places=(row,))
        elif row.etag != said.etag:
            try:
                yield step.seen(row, said)
            except NotFound:
                continue  # since it was listed
    for row in _known(step.own, step.calendar.id):
        if row.path not in present:
            yield step.happened(row.path.partition("/")[2])
    yield _marked(step, link, now.isoformat())


def _pages(step: _Look, page: ChangesSaid) -> Iterator[ChangesSaid]:
    yield page
    while page.next_link:
        page = step.own.more_changes(step.own.session.path_of(page.next_link))
        yield page


def _marked(step: _Look, link: str, since: str) -> Looked:
    path = step.own.session.path_of(link) if link else ""
    account = step.own.account.id
    mark = CalendarMark(account_id=account, path=step.calendar.id, link=f"{since} {path}")
    return Looked(mark=mark)


def _gone(own: Calendars, row: CalendarPlace) -> list[Named]:
    if not row.etag:
        return []
    found = [
        (f"graph gone {row.etag}", item_events.gone(own.account, id))
        for id in dict.fromkeys([row.event_id, *row.parts])
    ]
    row.etag, row.parts = "", []
    return found


def _known(own: Calendars, calendar_id: str) -> list[CalendarPlace]:
    """What was seen in a calendar."""
    rows = CalendarPlace.objects.filter(account_id=own.account.id).exclude(etag="")
    return list(rows.filter(path__startswith=f"{calendar_id}/"))


def _zulu(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"

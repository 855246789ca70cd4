"""What has happened in somebody's calendars since they were last looked at.

Each calendar has a mark (`CalendarMark`): the token that its server gave for what was seen. Where
the server takes it back it tells what has changed since (RFC 6578); where it does not, the version
of every event is compared with the one that was read. At the first look at an account its calendars
get marks and nothing else: what they hold is read in by a sync, and is no news. A calendar that is
added later is news, all of it.
"""

from collections.abc import Generator

from django.utils import timezone

from integrations.contracts import AccountRef, Event
from integrations.models import CalendarMark, CalendarPlace
from integrations.providers import item_events
from integrations.providers.caldav.calendars import Calendars, Fetched
from integrations.providers.caldav.discovery import Calendar
from integrations.providers.calendars.changes import Looked, joined
from integrations.providers.calendars.ids import event_id
from integrations.providers.dav import collections
from integrations.providers.dav.collections import News

READ_AT_ONCE = 50


def look(account: AccountRef) -> Generator[Looked]:
    """Calendar by calendar, many changes in several steps. Keep each before going on. Raises
    ProviderError."""
    own = Calendars(account)
    marks = {one.path: one for one in CalendarMark.objects.filter(account_id=account.id)}
    is_new = not marks
    for calendar in own.all():
        mark = marks.pop(calendar.path, None) or _mark(own, calendar.path, "")
        if is_new:
            yield _first(own, calendar)
        elif not calendar.token or mark.token != calendar.token:
            yield from _look(own, calendar, mark)
    for mark in marks.values():
        rows = [row for row in _places(own, mark.path).values() if row.etag]
        yield joined([_removed(own, row) for row in rows], lost=mark)


def _first(own: Calendars, calendar: Calendar) -> Looked:
    """What is there now is known, and no news."""
    known = _places(own, calendar.path)
    rows = []
    for path, etag in own.etags(calendar).items():
        row = known.get(path) or _new_place(own, path)
        row.etag = etag
        rows.append(row)
    return Looked(places=tuple(rows), mark=_mark(own, calendar.path, calendar.token))


def _look(own: Calendars, calendar: Calendar, mark: CalendarMark) -> Generator[Looked]:
    known = _places(own, calendar.path)
    news = collections.reported(
        own.session, url=calendar.url, path=calendar.path, token=mark.token
    ) or _compared(own, calendar, known)
    changed = [
        path for path, etag in news.changed.items() if path not in known or known[path].etag != etag
    ]
    for start in range(0, len(changed), READ_AT_ONCE):
        step = changed[start : start + READ_AT_ONCE]
        found = list(own.fetch(calendar, step, at=timezone.now()))
        news.gone |= set(step) - {one.path for one in found}
        found_in = [_seen(own, one, known.get(one.path)) for one in found]
        yield joined(found_in)
    removed = [known[path] for path in sorted(news.gone) if path in known and known[path].etag]
    yield joined([_removed(own, row) for row in removed], mark=_mark(own, mark.path, news.token))


def _compared(own: Calendars, calendar: Calendar, known: dict[str, CalendarPlace]) -> News:
    """What is there, held against what was there."""
    present = own.etags(calendar)
    gone = {path for path, row in known.items() if row.etag and path not in present}
    return News(changed=present, gone=gone, token=calendar.token)


def _seen(own: Calendars, found: Fetched, before: CalendarPlace | None) -> Looked:
    """A resource that is new or has changed: each event in it, and those that were in it."""
    row = before or _new_place(own, found.path)
    was_there = set(row.parts) if row.etag else set()
    row.etag, row.changes = found.etag, row.changes + 1
    present = [one for one in found.entries if isinstance(one, Event)]
    out = [
        _event(own, row, "updated" if before is not None and before.pk else "created", one)
        for one in present
    ]
    ids = [one.id for one in present]
    out += [_deleted(own, row, id) for id in sorted(was_there - set(ids))]
    row.parts = ids
    return Looked(events=tuple(out), places=(row,))


def _removed(own: Calendars, row: CalendarPlace) -> Looked:
    row.changes += 1
    ids = row.parts or [row.event_id]
    out = tuple(_deleted(own, row, id) for id in ids)
    row.etag, row.parts = "", []
    return Looked(events=out, places=(row,))


def _event(
    own: Calendars, row: CalendarPlace, kind: item_events.Kind, event: Event
) -> item_events.Event:
    return f"caldav {row.changes} {row.etag}", item_events.seen(own.account, kind, event)


def _deleted(own: Calendars, row: CalendarPlace, id: str) -> item_events.Event:
    return f"caldav {row.changes} gone", item_events.gone(own.account, id)


def _places(own: Calendars, path: str) -> dict[str, CalendarPlace]:
    """The resources of a calendar that Remit has seen."""
    rows = CalendarPlace.objects.filter(account_id=own.account.id, path__startswith=path)
    return {row.path: row for row in rows if "/" not in row.path.removeprefix(path)}


def _new_place(own: Calendars, path: str) -> CalendarPlace:
    return CalendarPlace(account_id=own.account.id, event_id=event_id(path), path=path)


def _mark(own: Calendars, path: str, token: str) -> CalendarMark:
    return CalendarMark(account_id=own.account.id, path=path, token=token)

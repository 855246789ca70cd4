"""When the user's time is taken, for answers to mails that ask about time, and for who reads a mail
by a skill that speaks of it.

Nothing but the times: who wrote the mail may read what is answered.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from agents.context import clock, results
from agents.contracts import Person
from guardrails.words import times
from guardrails.words.spots import spots
from guardrails.words.vocabulary import MeaningKind
from integrations.contracts.preferences import DAYS as WEEKDAYS
from integrations.ports.registry import writable
from knowledge.search import agenda
from knowledge.search.agenda import Meeting, Span

DAYS = 10
FURTHEST = timedelta(days=62)  # a day that a mail names
MOST_NAMED = 3  # days beyond the next ones
SLOT_MINUTES = 30  # of a free slot, at least
MOST_CHARS = 6_000  # of a text are looked through
TIMES: tuple[MeaningKind, ...] = (*("weekday", "day", "part", "clock", "o'clock", "week", "unit"),)
# What people ask by who name no time, in the languages whose times are read.
ASKED_BY = frozenset(
    {
        *("when", "available", "availability", "appointment", "meet", "meeting", "calendar"),
        *("wann", "termin", "termine", "treffen", "besprechung", "kalender"),
        *("quand", "disponible", "disponibilité", "rendez", "réunion", "calendrier"),
        *("cuándo", "cita", "reunión", "disponibilidad", "calendario"),
        *("quando", "appuntamento", "riunione", "disponibilità"),
    }
)
# What skills say beside that.
SAID_BY = ASKED_BY | {"slot", "slots", "agenda"}
NOTE = (
    "Other days are not known here. free is in the user's working hours. Who wrote the mail may "
    "read the answer, so it says nothing else of what the user does."
)
NO_CALENDAR = (
    "No calendar of the user is connected, so it is not known when they have time: offer no time "
    "and accept none."
)
TOO_FULL = (
    "There is too much in the user's calendar to be read whole: offer no time and accept none."
)


def render(person: Person, text: str, now: datetime) -> str:
    """A line of data about the next days, in the user's zone; empty where the text says nothing
    about time, or no calendar of theirs is connected."""
    if not (_is_connected(person) and _speaks_of_time(text, ASKED_BY)):
        return ""
    meetings = _list_meetings(person, (now, now + timedelta(days=DAYS)))
    taken = [_show(one.span, person) for one in meetings if not one.free]
    return f"[calendar] Taken in the user's next {DAYS} days: {results.fence(taken)}"


def look_up(person: Person, *, skill: str, mail: str, now: datetime) -> Mapping[str, Any] | None:
    """When the user's time is taken and when it is free, in their zone: in the next days, and on
    later ones that a mail that arrives now names. Where that is not known, why. None where the
    skill says nothing about time: whether the mail does, does not matter."""
    if not _speaks_of_time(skill, SAID_BY):
        return None
    if not _is_connected(person):
        return {"note": NO_CALENDAR}
    zone = ZoneInfo(person.time_zone)
    today = now.astimezone(zone).date()
    last = today + timedelta(days=DAYS)
    named = _days_named(mail, now, zone=person.time_zone)
    later = sorted(day for day in named if last < day <= today + FURTHEST)[:MOST_NAMED]
    spans = [(now, _ends(last, zone)), *((_begins(day, zone), _ends(day, zone)) for day in later)]
    found = [_list_meetings(person, span) for span in spans]
    if any(len(one) == agenda.MOST_EVENTS for one in found):
        return {"note": TOO_FULL}  # with events left out, time that is taken would be called free
    # What lasts from one span into another is in both.
    taken = {one.span: _show(one.span, person) for some in found for one in some if not one.free}
    return {
        "days": [f"{today} to {last}", *map(str, later)],
        "taken": list(taken.values()),
        "free": [
            _show(slot, person)
            for span, some in zip(spans, found, strict=True)
            for slot in _find_free(person, some, span, zone)
        ],
        "note": NOTE,
    }


def _is_connected(person: Person) -> bool:
    return any(one.source in writable("calendar") for one in person.accounts)


def _speaks_of_time(text: str, words: frozenset[str]) -> bool:
    return any(
        one.means(*TIMES) or one.text.casefold() in words for one in spots(text[:MOST_CHARS])
    )


def _days_named(text: str, now: datetime, *, zone: str) -> set[date]:
    said = times.read(text[:MOST_CHARS], said_at=now.isoformat(), zone=zone)
    return {*said.days, *(one.astimezone(ZoneInfo(zone)).date() for one in said.times)}


def _begins(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), tzinfo=zone)


def _ends(day: date, zone: ZoneInfo) -> datetime:
    return _begins(day + timedelta(days=1), zone)


def _list_meetings(person: Person, span: Span) -> Sequence[Meeting]:
    return agenda.list_meetings(
        account_ids=[one.id for one in person.accounts],
        own=[one.address for one in person.accounts],
        since=span[0],
        until=span[1],
    )


def _find_free(
    person: Person, meetings: Sequence[Meeting], span: Span, zone: ZoneInfo
) -> Sequence[Span]:
    hours = person.working_hours.items()
    return agenda.find_free(
        [one.span for one in meetings if not one.free],
        since=span[0],
        until=span[1],
        minutes=SLOT_MINUTES,
        zone=zone,
        hours={WEEKDAYS.index(day): (one.start, one.end) for day, one in hours},
    )


def _show(span: Span, person: Person) -> dict[str, str]:
    begins, ends = (clock.show(one, person.time_zone) for one in span)
    return {"begins": begins, "ends": ends}

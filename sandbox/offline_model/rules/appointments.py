"""“Put “Dentist” into my calendar on Monday 16 March from 14:00 to 15:00”, “Invite Priya to …”,
“Take “Train” out of my calendar”, “Move the training on Monday to 11:00”."""

import re
from collections.abc import Generator, Sequence
from datetime import datetime, timedelta

from sandbox.offline_model.language import quoted
from sandbox.offline_model.rules import agenda, dates, named, times
from sandbox.offline_model.rules.acting import act, carry_out
from sandbox.offline_model.script import Results, Script, call
from sandbox.offline_model.transcript import Json, Reply, Transcript, as_objects, as_text

_FLAGS = re.IGNORECASE | re.DOTALL
_ENTER = re.compile(
    r"(?:put|enter|add|schedule|book|trage?|ajoute[rz]?|añade|agrega)\b(?P<rest>.+)", _FLAGS
)
_INVITE = re.compile(
    r"(?:invite|lade?|invita)\s+(?P<who>.+?)\s+(?:to|zu[rm]?|à|a)\s+(?=[“„«\"])(?P<rest>.+)", _FLAGS
)
_CANCEL = re.compile(
    r"(?:cancel|call off|take|remove|delete|sage?|streiche?|lösche|annule|supprime|cancela|quita)\b"
    r"(?=.*\b(?:calendar|event|meeting|kalender|termin|agenda|réunion|calendario|reunión)\b)"
    r"(?P<which>.+)",
    _FLAGS,
)
_MOVE = re.compile(
    r"(?:move|shift|verschiebe?|lege?)\s+(?P<which>.+?)\s+(?:to|auf|nach)\s+(?P<time>\d{1,2}:\d\d)\b"
    r"(?P<rest>.*)",
    _FLAGS,
)
_IF_FREE = re.compile(
    r"\b(?:only if|nur,? wenn|nur,? falls|seulement si|solo si|sólo si)\b", re.IGNORECASE
)
_FIRST_FREE = re.compile(r"\b(?:first|next)\s+(?:free\s+)?(?:time|slot|hour)\b", re.IGNORECASE)
WHEN = "When? Please name the day, and from when to when."


def script(transcript: Transcript, request: str) -> Script | None:
    """The steps of such a command; None where the request is none."""
    if found := _INVITE.fullmatch(request):
        return _invite(transcript, found["who"], found["rest"])
    if found := _MOVE.fullmatch(request):
        return _move(transcript, found)
    if (found := _ENTER.fullmatch(request)) and named.titles_in(request):
        return _enter(transcript, request)
    if found := _CANCEL.fullmatch(request):
        return _cancel(found["which"])
    return None


def _enter(transcript: Transcript, request: str, people: Sequence[str] = ()) -> Script:
    """An event of this title; where the time must be free, only if it is."""
    now, title = transcript.now, named.titles_in(request)[0]
    said = named.without_titles(request)
    hours = times.hours_in(said, now=now)
    if _FIRST_FREE.search(said):
        hours = yield from _first_free(said, now)
    if hours is None:
        return WHEN
    if _IF_FREE.search(said) and (taken := (yield from _taken(hours))):
        return taken
    params: Json = {
        "title": title,
        "start": times.say(hours.begins),
        "end": times.say(hours.ends),
        **({"attendees": [*people]} if people else {}),
    }
    return (yield from carry_out(act("create_calendar_event", params)))


def _invite(transcript: Transcript, who: str, rest: str) -> Script:
    if not named.titles_in(rest) or times.hours_in(rest, now=transcript.now) is None:
        return WHEN
    people = yield from named.person(who)
    if isinstance(people, str):
        return people
    return (yield from _enter(transcript, rest, people))


def _taken(hours: times.Hours) -> Script:
    """What stands in the calendar then; nothing where it is free."""
    [found] = yield call(
        "read_calendar", since=times.say(hours.begins), until=times.say(hours.ends)
    )
    if not found.success:
        return f"I could not look into your calendar. {quoted(found.refusal, limit=400)}"
    events = [one for one in as_objects(found.data.get("events")) if _overlaps(one, hours)]
    if not events:
        return ""
    lines = (agenda.line(one, german=False) for one in events)
    return "\n".join(["Nothing was entered. Then there is already:", *lines])


def _overlaps(event: Json, hours: times.Hours) -> bool:
    begins, ends = dates.moment(event.get("begins")), dates.moment(event.get("ends"))
    return bool(begins and ends and begins < hours.ends and hours.begins < ends)


def _first_free(said: str, now: datetime) -> Generator[Reply, Results, times.Hours | None]:
    """The first time of the day, or after the time that is named, that is free so long."""
    day, clock, minutes = times.day_in(said, now=now), times.clock_in(said), agenda.minutes_in(said)
    since = times.at(day, *(clock or (8, 0)), now=now) if day else None
    until = times.at(day, 23, 59, now=now) if day else None
    if since is None or until is None or not minutes:
        return None
    [found] = yield call(
        "read_calendar",
        since=times.say(since),
        until=times.say(until),
        free_minutes=minutes,
        day_begins=f"{since:%H:%M}",
        day_ends="20:00",
    )
    for slot in as_objects(found.data.get("free")) if found.success else ():
        if begins := dates.moment(slot.get("begins")):
            return times.Hours(begins=begins, ends=begins + timedelta(minutes=minutes))
    return None


def _cancel(which: str) -> Script:
    event = yield from named.item(which, "event")
    if isinstance(event, str):
        return event
    return (yield from carry_out(act("cancel_calendar_event", {"event_id": event["id"]})))


def _move(transcript: Transcript, found: re.Match[str]) -> Script:
    """Another beginning on the same day, or on the one that is named, as long as before."""
    which = re.sub(r"\b(?:on|am)\s+\w+day\b", " ", found["which"])
    event = yield from named.item(which, "event")
    if isinstance(event, str):
        return event
    begins, ends = dates.moment(event.get("date")), dates.moment(event.get("ends"))
    hour, minute = map(int, found["time"].split(":"))
    day = times.day_in(found["rest"], now=transcript.now) or (begins and begins.date())
    start = times.at(day, hour, minute, now=begins or transcript.now) if day else None
    if begins is None or ends is None or start is None:
        return f"Your calendar does not say how long “{quoted(as_text(event.get('title')))}” is."
    params: Json = {
        "event_id": event["id"],
        "start": times.say(start),
        "end": times.say(start + (ends - begins)),
    }
    return (yield from carry_out(act("update_calendar_event", params)))

"""“What meetings do I have tomorrow?”, “When am I free on Thursday?”, “Do any meetings collide?”"""

import re
from datetime import datetime, timedelta

from sandbox.offline_model.language import ADDRESS, quoted
from sandbox.offline_model.rules import dates
from sandbox.offline_model.rules.asked import Asked
from sandbox.offline_model.rules.item_facts import cite, title_of
from sandbox.offline_model.rules.wording import say
from sandbox.offline_model.script import Script, call
from sandbox.offline_model.transcript import Json, as_objects, as_text

FREE_MINUTES = 30
MOST = 10
_FREE = re.compile(
    r"\b(?:free|available|a slot|slots|have time|frei|freie[nrs]?|zeit)\b", re.IGNORECASE
)
_CONFLICT = re.compile(
    r"\b(?:conflicts?|collid\w+|overlap\w*|clash\w*|double.booked|kollidier\w+|überschneid\w+|konflikt\w*)\b",
    re.IGNORECASE,
)
_CALENDAR = re.compile(
    r"\b(?:meetings?|appointments?|calendar|agenda|schedule|events?|termine?|besprechungen|kalender)\b",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\b(?:next|nächste[rns]?)\s+(?:meeting|appointment|event|termin|besprechung)\b", re.IGNORECASE
)
# Of a day, with nothing else in the question: “on the list” or “on the menu” is no calendar.
_DAY = re.compile(
    r"(?:what(?:['\u2019]s|\s+is)\s+(?:on|planned)|what\s+(?:do|have)\s+I\s+(?:have|got)"
    r"(?:\s+on|\s+planned)?|was\s+habe\s+ich(?:\s+vor)?)(?:\s+(?:for|on|am))?",
    re.IGNORECASE,
)
_MINUTES = re.compile(
    r"\b(?P<number>\d{1,3}|an|one|two|half an|eine|zwei|eine halbe)\s*-?\s*"
    r"(?P<unit>minutes?|minuten|hours?|stunden?|h\b)",
    re.IGNORECASE,
)
_WORDS = {
    "an": 1.0,
    "one": 1.0,
    "two": 2.0,
    "half an": 0.5,
    "eine": 1.0,
    "zwei": 2.0,
    "eine halbe": 0.5,
}


def is_about(asked: Asked, span: dates.Span | None) -> bool:
    """Whether the calendar of some days answers it, rather than one event of a name."""
    text = asked.text
    if asked.keys:
        return False
    if _CONFLICT.search(text) and (span or _CALENDAR.search(text)):
        return True
    if _FREE.search(text) and (span or re.search(r"\b(?:I|we|ich|wir|slots?|me|mir)\b", text)):
        return not re.search(r"\b(?:how much|free of charge|kostenlos)\b", text, re.IGNORECASE)
    if _NEXT.search(text):
        return True
    if span is None:
        return False
    rest = " ".join(text.replace(span.said, " ", 1).rstrip("?!. ").split())
    return bool(_CALENDAR.search(text) or _DAY.fullmatch(rest))


def answer(asked: Asked, span: dates.Span | None, *, now: datetime) -> Script:
    """What the calendar says of the span; of the next seven days where none is named."""
    german, text = asked.german, asked.text
    days = span or dates.next_days(now)
    free = _FREE.search(text) is not None
    minutes = minutes_in(text) or FREE_MINUTES
    [found] = yield call(
        "read_calendar",
        since=days.since.isoformat(),
        until=days.until.isoformat(),
        free_minutes=minutes if free else None,
        people=ADDRESS.findall(text) if free else None,
    )
    called = days.called(german)
    if not found.success:
        reason = quoted(found.refusal, limit=400)
        return say(german, "not_searched", where="", reason=reason)
    events = as_objects(found.data.get("events"))
    if free:
        return _free(german, as_objects(found.data.get("free")), minutes, days)
    if _CONFLICT.search(text):
        pairs = found.data.get("overlaps")
        return _conflicts(german, events, pairs if isinstance(pairs, list) else [], days)
    if _NEXT.search(text):
        events = tuple(one for one in events if _begins_after(one, now))[:1]
    if not events:
        return say(german, "calendar_empty", when=days.when(german))
    count = _counted(german, len(events))
    head = say(german, "agenda", span=called[:1].upper() + called[1:], count=count)
    return "\n".join([head, *(line(one, german) for one in events[:MOST])])


def _begins_after(event: Json, now: datetime) -> bool:
    begins = dates.moment(event.get("begins"))
    return begins is not None and begins >= now


def _counted(german: bool, number: int) -> str:
    one, several = ("Termin", "Termine") if german else ("event", "events")
    return f"{number} {one if number == 1 else several}"


def _free(german: bool, slots: tuple[Json, ...], minutes: int, days: dates.Span) -> str:
    if not slots:
        return say(german, "free_none", minutes=minutes, when=days.when(german))
    lines = [f"- {slot_in_words(slot, german)}" for slot in slots[:MOST]]
    return "\n".join([say(german, "free", minutes=minutes, span=days.called(german)), *lines])


def slot_in_words(slot: Json, german: bool) -> str:
    begins, ends = dates.moment(slot.get("begins")), dates.moment(slot.get("ends"))
    if not begins or not ends:
        return quoted(as_text(slot.get("begins")))
    until = f"{ends:%H:%M}" if begins.date() == ends.date() else dates.show(ends, german)
    word = "bis" if german else "to"
    return f"{dates.show(begins, german)} {word} {until}"


def _conflicts(
    german: bool, events: tuple[Json, ...], pairs: list[object], days: dates.Span
) -> str:
    by_number = {one.get("n"): one for one in events}
    known = [
        (by_number[pair[0]], by_number[pair[1]])
        for pair in pairs
        if isinstance(pair, list) and len(pair) == 2 and {*pair} <= by_number.keys()
    ]
    if not known:
        return say(german, "no_conflict", when=days.when(german))
    noun = ("collision", "collisions") if not german else ("Kollision", "Kollisionen")
    count = f"{len(known)} {noun[len(known) != 1]}"
    lines = [
        f"{line(one, german)}\n  {'und' if german else 'and'} {line(other, german)[2:]}"
        for one, other in known
    ]
    return "\n".join([say(german, "conflict", count=count, span=days.called(german)), *lines])


def line(event: Json, german: bool) -> str:
    begins, ends = dates.moment(event.get("begins")), dates.moment(event.get("ends"))
    when = ""
    if begins:
        whole_day = event.get("all_day") is True
        when = dates.show(begins, german, clock=not whole_day)
        if ends and not whole_day and ends - begins < timedelta(days=1):
            when += f" {'bis' if german else 'to'} {ends:%H:%M}"
    place = quoted(as_text(event.get("place")))
    people = event.get("attendees")
    who = len(people) if isinstance(people, list) else 0
    asked = f"{who} {'Eingeladene' if german else 'asked'}" if who else ""
    more = ", ".join(filter(None, [place, asked]))
    return f"- {when}: “{title_of(event)}”" + (f" ({more})" if more else "") + cite(event)


def minutes_in(text: str) -> int:
    found = _MINUTES.search(text)
    if found is None:
        return 0
    number = _WORDS.get(found["number"].casefold()) or float(found["number"])
    hours = found["unit"].casefold().startswith(("h", "st"))
    return max(5, min(720, int(number * (60 if hours else 1))))

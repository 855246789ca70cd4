"""What the user's words say of the arguments by value, and what follows from that. Pure.

A time is compared as a moment, a number as a number. What follows is no choice of anybody's: the
end of a meeting that keeps its length, the day of a time on an event that was named, the subject
of a reply.
"""

import re
from collections.abc import Mapping, Set
from datetime import datetime, timedelta

from guardrails.actions.base import AnyAction
from guardrails.decide import provenance
from guardrails.decide.checks.case import Case
from guardrails.facts.classes import WRITTEN
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import duration, visible
from guardrails.words.moments import clock_of, instant
from guardrails.words.times import Said
from guardrails.words.typed import typed
from guardrails.words.values import number_said, time_said
from integrations.contracts import Event

Readings = dict[str, str]  # by path
# What mail programs put before the subject that is answered.
ANSWERED = re.compile(r"(?:(?:re|aw|antw|sv|rép|rif|odp|r)(?:\[\d+\])?\s?:\s*)+", re.IGNORECASE)
# Of a meeting whose end nobody named.
USUAL_LENGTHS = (timedelta(minutes=30), timedelta(hours=1))


def read(case: Case, action: AnyAction, facts: Facts, owned: Set[str]) -> tuple[Readings, Readings]:
    """What the user typed by value, and what follows from it, by path and with how the words were
    read. `owned` are paths of what they own and named."""
    if "U" not in provenance.SOURCES[case.request.origin.trigger]:
        return {}, {}
    found: Readings = {}
    for path, value in case.values:
        if action.class_at(path) in WRITTEN and (
            reading := time_said(value, case.heard.times) or number_said(value, case.heard.spoken)
        ):
            found[path] = reading
    for target in case.receivers:
        if typed(target.value, case.heard.addresses):
            found[target.path] = ""
    derived = _times(case, facts.event if action.object_kind == "event" else None, found)
    if facts.email and _answers(case.arguments.get("subject"), facts.email.subject):
        object_id = case.arguments.get(action.object_field or "")
        if action.object_field in owned or typed(str(object_id or ""), case.heard.words):
            derived["subject"] = phrase("the subject of the mail that is answered")
    return found, derived


def _answers(subject: object, answered: str) -> bool:
    """Whether this is what programs call the answer to a mail of that subject."""
    if not subject:
        return False
    bare = " ".join(answered.split())
    known = {f"Re: {bare}", f"Re: {ANSWERED.sub('', bare, count=1)}"}
    if ANSWERED.match(bare):
        known.add(bare)
    return bool(bare) and subject in known


def _times(case: Case, event: Event | None, typed: Readings) -> Readings:
    """When it begins and ends, as far as it follows. A length that was typed makes the end
    typed too."""
    start, end = _moment(case.arguments, "start"), _moment(case.arguments, "end")
    if start is None or end is None:
        return {}
    said, found = case.heard.times, Readings()
    if event and "start" not in typed and (reading := _moved(start, event.start, said)):
        found["start"] = reading
    if "end" in typed or "start" not in typed | found:
        return found
    length = end - start
    if phrase := _length(length, said):
        reading = f"“{visible(phrase)}” from its start"
        (typed if "start" in typed else found)["end"] = reading
    elif event is not None and length == event.end - event.start:
        found["end"] = "as long as it was"
    elif event is not None and end == event.end:
        found["end"] = "as it is"
    elif event is not None and (reading := _moved(end, event.end, said)):
        found["end"] = reading
    elif event is None and not said.spans and said.count == 1 and length in USUAL_LENGTHS:
        found["end"] = f"no end was named: {duration(length.seconds)}"
    return found


def _moved(at: datetime, before: datetime, said: Said) -> str:
    """How the words move a time that an event has; empty where they do not."""
    new, old = at.astimezone(said.zone), before.astimezone(said.zone)
    if new == old:
        return "as it is"
    if new.time() == old.time() and (phrase := said.days.get(new.date())):
        return f"“{visible(phrase)}” at the time it had: {clock_of(at, said.zone)}"
    if new.date() == old.date() and (phrase := said.clocks.get(new.hour * 60 + new.minute)):
        return f"“{visible(phrase)}” on the day it had: {clock_of(at, said.zone)}"
    if phrase := _length(abs(new - old), said):
        later = "later" if new > old else "earlier"
        return f"“{visible(phrase)}” {later}: {clock_of(at, said.zone)}"
    return ""


def _length(length: timedelta, said: Said) -> str:
    minutes, rest = divmod(length, timedelta(minutes=1))
    return "" if rest else said.spans.get(minutes, "")


def _moment(arguments: Mapping[str, object], name: str) -> datetime | None:
    value = arguments.get(name)
    return instant(value) if isinstance(value, str) else None

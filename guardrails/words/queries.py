"""Which of the user's own things their words mean: “my first meeting on Friday”, “the last mail
from Sofia”. Pure.

Looked at are structured fields alone (times, people, sender), never what strangers wrote. In doubt
nothing is meant: two such phrases, two days, a name that is not clear, a series whose dates nobody
worked out.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from guardrails.facts import targets
from guardrails.facts.people import Person
from guardrails.words import times
from guardrails.words.moments import zone_of
from guardrails.words.names import Named, mentions
from guardrails.words.own import HOLE
from integrations.contracts import Email, Event

Order = Literal["", "first", "last", "all"]
FIRST = (
    "first|next|erste[ns]?|nächste[ns]?|premi(?:er|ère)|prochaine?|primer[ao]?|próxim[ao]"
    "|prim[ao]|prossim[ao]"
)
LAST = "last|latest|newest|letzte[ns]?|neueste[ns]?|derni(?:er|ère)|últim[ao]|ultim[ao]"
ALL = "all|every|alle|tous|toutes|todos|tutti|tutte"
MY = "my|meine[nm]?|mein|mon|ma|mi|mio|mia"
EVENTS = (
    "meeting|call|appointment|one to one|1:1|termin|besprechung|treffen|rendez-vous|réunion"
    "|reunión|cita|riunione|appuntamento"
)
MAILS = "e?-?mails?|messages?|nachricht(?:en)?|correos?|messaggi[o]?"
EVENT = re.compile(
    rf"(?i)(?<!\w)(?:{MY})\s+(?:(?P<first>{FIRST})\s+|(?P<last>{LAST})\s+)?(?:(?:{EVENTS})(?!\w)"
    r"|(?P<clock>\d{1,2}(?::\d\d)?\s?(?:[ap]\.?m\b|uhr\b|h\b)|\d{1,2}:\d\d))"
)
MAIL = re.compile(
    rf"(?i)(?<!\w)(?:(?P<last>{LAST})|(?P<all>{ALL}))\s+(?:(?:the|my|die|meine|les|los|i)\s+)?"
    rf"(?:{MAILS})\s+(?:from|von|de|da)\s+"
)
WITH = re.compile(r"(?i)(?<!\w)(?:with|mit|avec|con)\s+")


@dataclass(frozen=True, kw_only=True)
class Query:
    """What a phrase asks for. Empty fields ask for nothing."""

    phrase: str
    order: Order = ""
    days: frozenset[date] = frozenset()
    minutes: frozenset[int] = frozenset()  # after midnight
    people: tuple[frozenset[str], ...] = ()  # the addresses of each


def event_query(words: str, *, said_at: str, zone: str, people: Iterable[Person]) -> Query | None:
    """The one event that the words ask for; None where they ask for none, or for several."""
    found = list(EVENT.finditer(words))
    days = days_of(words, said_at=said_at, zone=zone)
    if len(found) != 1 or days is None or HOLE in words:
        return None
    names = Named(mentions(words, people))
    places = [one.end() for one in WITH.finditer(words)]
    there = dict.fromkeys(said for place in places for said in names.at(words, place))
    if not all(said.is_clear for said in there) or (places and not there):
        return None  # with whom, nobody knows
    wanted = [frozenset(one.address for one in said.people) for said in there]
    one = found[0]
    minutes: frozenset[int] = frozenset()
    if one["clock"]:
        minutes = frozenset(times.read(one["clock"], said_at=said_at, zone=zone).clocks)
    if not (days or minutes or wanted or one["first"]):
        return None
    order: Order = "first" if one["first"] else "last" if one["last"] else ""
    phrase = " ".join(one[0].split())
    return Query(phrase=phrase, order=order, days=days, minutes=minutes, people=tuple(wanted))


def mail_query(words: str, *, said_at: str, zone: str, people: Iterable[Person]) -> Query | None:
    """The mails of one sender that the words ask for: the last, or all, also of one day."""
    found = list(MAIL.finditer(words))
    days = days_of(words, said_at=said_at, zone=zone)
    if len(found) != 1 or days is None or HOLE in words:
        return None
    one = found[0]
    behind = words[one.end() :]
    named = [said for said in mentions(words, people) if behind.startswith(said.text)]
    typed = targets.address_or_none(re.split(r"[\s,;]", behind, maxsplit=1)[0].rstrip(".!?"))
    if named and named[0].is_clear:
        senders = frozenset(person.address for person in named[0].people)
    elif typed:
        senders = frozenset({typed})
    else:
        return None
    phrase = " ".join(words[one.start() : one.end() + 40].split()[:8])
    order: Order = "last" if one["last"] else "all"
    return Query(phrase=phrase, order=order, days=days, people=(senders,))


def select_events(
    query: Query, events: Iterable[Event], *, now: datetime, zone: str
) -> tuple[str, ...]:
    """The ids of what the query means, out of all the user's events: one, or nothing."""
    where = zone_of(zone)
    if where is None:
        return ()
    today = now.astimezone(where).date()
    fitting: list[Event] = []
    for one in events:
        if one.status == "cancelled" or not _attended(one, query.people):
            continue
        if one.recurrence or one.this_and_future:
            return ()
        start = one.start.astimezone(where)
        if query.days and start.date() not in query.days:
            continue
        if query.minutes and start.hour * 60 + start.minute not in query.minutes:
            continue
        if not query.days and (one.end <= now or (query.minutes and start.date() != today)):
            continue
        if one.attendees or query.minutes:
            fitting.append(one)
    fitting.sort(key=lambda one: one.start)
    if query.order and len(fitting) > 1:
        first, second = (fitting[0], fitting[1]) if query.order == "first" else fitting[-1:-3:-1]
        return () if first.start == second.start else (first.id,)
    return (fitting[0].id,) if len(fitting) == 1 else ()


def select_mails(query: Query, mails: Iterable[Email], *, zone: str) -> tuple[str, ...]:
    """The ids of what the query means, out of all mail that may be: only mail whose sender is
    proved counts."""
    where, senders = zone_of(zone), query.people[0] if query.people else frozenset()
    fitting = [
        one
        for one in mails
        if where is not None
        and targets.address_or_none(one.sender) in senders
        and one.authentication.dmarc == "pass"
        and (not query.days or one.date.astimezone(where).date() in query.days)
    ]
    fitting.sort(key=lambda one: one.date)
    if query.order == "all":
        return tuple(one.id for one in fitting)
    if len(fitting) > 1 and fitting[-1].date == fitting[-2].date:
        return ()
    return (fitting[-1].id,) if fitting else ()


def _attended(event: Event, people: Sequence[frozenset[str]]) -> bool:
    there = {one.email for one in event.attendees} | {event.created_by}
    return all(not there.isdisjoint(one) for one in people)


def days_of(words: str, *, said_at: str, zone: str) -> frozenset[date] | None:
    """The day that the words look at: not one that something is moved to. None for several."""
    found = set(times.days_named(words, said_at=said_at, zone=zone))
    if len(found) > 1:
        return None
    return found.pop() if found else frozenset()

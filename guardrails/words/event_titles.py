"""Which event the user's words call by its title: “lunch with Lena tomorrow”. Pure.

A title counts as a whole, in any case of its letters, and with the day where the words name one. A
title of one word must be the user's own (“my gym”) or come with an article and a day. In doubt
nothing is meant: two titles, two events of one, or a title after a “not” or “except”. A series is
meant only with a day, and then the one of it that takes place on it (`is_one_of`).
Whose the event is, is for the caller to ask.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from datetime import date, datetime
from typing import NamedTuple

from guardrails.facts.people import spellings
from guardrails.words.moments import zone_of
from guardrails.words.name_words import BUT, DETERMINERS, EXCLUDING
from guardrails.words.own import HOLE
from integrations.contracts import Event
from integrations.mail.text import normalised

WORD = re.compile(r"[^\W_]+")
MY = frozenset(
    {"my", "mein", "meine", "meinen", "meinem", "meiner", "mon", "ma", "mes", "mi", "mis"}
    | {"mio", "mia", "miei", "mie"}
)
DENYING = EXCLUDING | BUT
ENDS = frozenset(".!?\n")
TWICE = re.compile(
    r"\bRDATE\b|BY(?:HOUR|MINUTE|SECOND)|FREQ=(?:HOURLY|MINUTELY|SECONDLY)|RRULE.*RRULE", re.DOTALL
)
LEAST_LETTERS = 4
MOST_WORDS = 12
REACH = 3  # so many words after a “not” are what it denies


class Titled(NamedTuple):
    """The one event whose title stands in the words, and where."""

    event: Event
    start: int
    end: int


class Place(NamedTuple):
    event: Event
    first: int  # words
    last: int


def find_titled(
    words: str, events: Iterable[Event], *, days: Set[date], now: datetime, zone: str
) -> Titled | None:
    """The event that the words call by its title, out of all of the user's calendar. `days` are all
    that the one day named in the words may mean; without one, events that are over do not count."""
    where = zone_of(zone)
    if where is None or HOLE in words:
        return None
    found = list(WORD.finditer(words))
    said = [_fold(one[0]) for one in found]
    where_said: dict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(said):
        where_said[word].append(at)
    places: list[Place] = []
    for event in events:
        if event.status == "cancelled":
            continue
        is_then = event.start.astimezone(where).date() in days if days else event.end > now
        if is_then or event.recurrence or event.this_and_future:
            places += _places(event, said, where_said, has_day=bool(days))
    longest = _longest(places)
    if len({one.event.id for one in longest}) != 1:
        return None
    event, first, last = longest[0]
    start, end = found[first].start(), found[last].end()
    if ENDS & set(words[start:end]) - set(event.title) or event.this_and_future:
        return None
    if event.recurrence and not (len(days) == 1 and is_once_a_day(event)):
        return None
    return None if _is_excluded(said, first) else Titled(event, start, end)


def is_once_a_day(series: Event) -> bool:
    """Whether no day has two of the series: its recurrence says nothing of hours, and adds none."""
    return not TWICE.search((series.recurrence or "").upper())


def is_one_of(event: Event, series: Event, days: Set[date], zone: str) -> bool:
    """Whether the event is the one of the series that takes place on one of these days, and as its
    recurrence plans it."""
    where = zone_of(zone)
    if where is None or event.series_id != series.id or event.recurrence:
        return False
    day = event.start.astimezone(where).date()
    return day in days and event.original_start == event.start and event.id != series.id


def says_title(words: str, title: str) -> bool:
    """Whether this title stands in the words, whatever else does."""
    said, wanted = ([_fold(one) for one in WORD.findall(text)] for text in (words, title))
    size = len(wanted)
    return size > 0 and any(said[at : at + size] == wanted for at in range(len(said) - size + 1))


def _places(
    event: Event, said: list[str], where_said: Mapping[str, list[int]], *, has_day: bool
) -> Iterator[Place]:
    """Where the title stands as a whole in the words."""
    title = [_fold(one) for one in WORD.findall(event.title)]
    size = len(title)
    if not 0 < size <= MOST_WORDS or sum(map(str.isalpha, "".join(title))) < LEAST_LETTERS:
        return
    for at in where_said.get(title[0], ()):
        if said[at : at + size] != title:
            continue
        before = spellings(said[at - 1]) if at else frozenset()
        if size > 1 or before & MY or (has_day and before & DETERMINERS):
            yield Place(event, at, at + size - 1)


def _longest(places: Iterable[Place]) -> list[Place]:
    """Without those where a title is only a part of a longer one that stands there."""
    found: list[Place] = []
    for one in sorted(places, key=lambda one: (one.first, -one.last)):
        # What begins earlier, or there and is longer, has come before.
        longer = found[-1] if found else None
        if longer is None or one.last > longer.last or one[1:] == longer[1:]:
            found.append(one)
    return found


def _is_excluded(said: list[str], at: int) -> bool:
    return any(spellings(one) & DENYING for one in said[max(0, at - REACH) : at])


def _fold(word: str) -> str:
    return normalised("NFC", word).casefold()

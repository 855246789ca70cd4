"""A search request in the terms of the SQL statements that answer it. Pure."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from itertools import pairwise
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from integrations.database.arrays import write_array
from knowledge.contracts import SearchRequest
from knowledge.search import filter_words
from knowledge.text import lexemes
from knowledge.text.highlights import START, STOP
from knowledge.text.languages import language_of, little_words
from knowledge.text.lexemes import Term
from knowledge.text.subjects import words
from knowledge.text.visible import visible

MAX_QUERY = 1_000
MAX_WORDS = 40
MAX_CANDIDATE_WORDS = 8
MAX_LIMIT = 50
PASSAGE_CHARS = 2_000
ENTITIES = 20
# An account with more is searched through the graph. Comparing one takes 0.7 to 2.7 µs, and misses
# nothing.
EXACT_VECTORS = 200_000
EXACT_ITEMS = 5_000
CANDIDATES = 100
NEWEST_MATCHES = 200  # of each word and account
RRF = 60
VECTOR_WEIGHT = 0.7  # of a place among vectors, where one among words is 1: measured best
MAX_DISTANCE = 0.75  # cosine; a passage farther away has nothing to do with the question
_ADDRESS = re.compile(r"[^\s<>()\[\],;:\"]+@[^\s<>()\[\],;:\"]+")
_EDGES = ".,;:!?()[]<>{}\"'“”\u2018\u2019«»"
# Words that say nothing about what is looked for; without them a question matches by the rest.
_FILLERS = frozenset(
    words(
        "a about all an and any are as at be been but by can could did do does find for from get "
        "give had has have he her him his how i in is it its know latest many me much my of on or "
        "our please s say says search she should show t tell that the their them there they this "
        "to us was we were what when where which who whom whose why will with would you your "
        # Too short a question does not tell its language.
        "wer wem wen wessen wann wo wie viel viele welche welchen welcher welches "
        "qui quel quelle quand combien qué quién cuándo cuánto cuántos dónde "
        "chi quale quali quando quanto quanti dove "
        "hur många vem när var vilken vilket"
    )
)
Word = TypeVar("Word", str, Term)


@dataclass(frozen=True, kw_only=True)
class Query:
    """`terms` are the words that count, as names are compared by; `searched` are they as full
    text search looks for them, and `neighbours` the places of those that the next one stood
    beside; `identifiers` what may be an id or an address."""

    text: str
    terms: tuple[str, ...]
    identifiers: tuple[str, ...]
    entity_words: tuple[str, ...]
    entity_address: str
    since: datetime | None
    until: datetime | None
    searched: tuple[Term, ...]
    neighbours: tuple[int, ...] = ()

    @property
    def candidate_words(self) -> tuple[int, ...]:
        """Places of the terms that candidates are looked for by: the longest, which are the
        rarest."""
        places = range(len(self.searched))
        longest = sorted(places, key=lambda place: -len(self.searched[place].plain))
        return tuple(sorted(longest[:MAX_CANDIDATE_WORDS]))


def parse_query(request: SearchRequest, *, now: datetime) -> Query:
    """What `request` asks for. Raises ValueError for a time filter that makes no sense."""
    text = " ".join(visible(request.query).split())[:MAX_QUERY]
    about = filter_words.take_off_dates(text) if request.time_filter else text
    found = tuple(dict.fromkeys(words(about)))[:MAX_WORDS]
    looked_for = lexemes.join_neighbours(lexemes.terms(about)[:MAX_WORDS])
    entity = visible(request.entity)
    address = _ADDRESS.search(entity)
    since, until = find_window(request, now=now)
    fillers = _FILLERS | little_words(language_of(text))
    terms = _without(fillers, found) or found
    searched = _without(fillers, looked_for) or looked_for
    said = filter_words.list_said(request)
    if said:
        fillers |= said
        terms, searched = _without(fillers, found), _without(fillers, looked_for)
    return Query(
        text=text,
        terms=terms,
        identifiers=tuple(
            dict.fromkeys(
                part.strip(_EDGES).lower()
                for part in text.split()[:MAX_WORDS]
                if len(part.strip(_EDGES)) > 2
            )
        ),
        entity_words=() if address else tuple(dict.fromkeys(words(entity))),
        entity_address=address.group().strip(_EDGES).lower() if address else "",
        since=since,
        until=until,
        searched=searched,
        neighbours=_neighbours(looked_for, searched),
    )


def _neighbours(words: Sequence[Term], left: Sequence[Term]) -> tuple[int, ...]:
    beside = set(pairwise(term.plain for term in words))
    pairs = pairwise(term.plain for term in left)
    return tuple(place for place, pair in enumerate(pairs) if pair in beside)


def _without(fillers: Set[str], found: tuple[Word, ...]) -> tuple[Word, ...]:
    return tuple(word for word in found if str(word) not in fillers)


def build_parameters(
    request: SearchRequest,
    query: Query,
    *,
    limit: int,
    vector: str | None,
    model: str,
    languages: Sequence[str],
    half_life: float,
    now: datetime,
) -> dict[str, Any]:
    """The values of the statements of `knowledge.search.statements`."""
    by_entity = bool(query.entity_words or query.entity_address)
    return {
        "accounts": list(request.account_ids),
        "sources": list(request.sources),
        "content_types": list(request.content_types),
        "excluded": list(request.excluded_ids),
        "since": query.since,
        "until": query.until,
        "words": [term.tsquery for term in query.searched],
        "written": [term.written for term in query.searched],
        "choosing": [place + 1 for place in query.candidate_words],
        "any_form": lexemes.find_any(query.searched[place] for place in query.candidate_words),
        "neighbours": [place + 1 for place in query.neighbours],
        "languages": list(languages),
        "terms": list(query.terms),
        "identifiers": list(query.identifiers),
        "by_entity": by_entity,
        "entity_words": list(query.entity_words),
        "entity_address": query.entity_address,
        "vector": vector,
        "model": model,
        "limit": max(1, min(limit, MAX_LIMIT)),
        "passage_chars": PASSAGE_CHARS,
        "entity_limit": ENTITIES,
        "exact_items": EXACT_ITEMS,
        "candidates": CANDIDATES,
        "newest_matches": NEWEST_MATCHES,
        "max_distance": MAX_DISTANCE,
        "rrf": RRF,
        "vector_weight": VECTOR_WEIGHT,
        "marks": f"HighlightAll=true, StartSel={START}, StopSel={STOP}",
        "half_life": half_life,
        "now": now,
    }


def name_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """A name for each account, language and word by itself."""
    names = (
        *(("account", "accounts"), ("language", "languages")),
        *(("word", "words"), ("written", "written")),
    )
    return {
        f"{name}_{number}": value
        for name, several in names
        for number, value in enumerate(values[several])
    }


def write_arrays(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same with each list as the text of an array."""
    return {
        name: write_array(value) if isinstance(value, list) else value
        for name, value in values.items()
    }


_DAYS_BACK = {"today": 0, "yesterday": 1, "last_week": 7, "last_month": 30}


def find_window(
    request: SearchRequest, *, now: datetime
) -> tuple[datetime | None, datetime | None]:
    """The half-open span [since, until) of `request`; None is open.

    Days begin at midnight where the user is. last_week and last_month are the last 7 and 30
    days and today; every named span but yesterday ends with today, so that an event later
    today is in it. Raises ValueError for an unknown filter or a naive time.
    """
    if request.time_filter is None:
        return None, None
    if request.time_filter == "custom":
        if any(edge and edge.tzinfo is None for edge in (request.since, request.until)):
            raise ValueError("since and until need a time zone")
        return request.since, request.until
    if request.time_filter not in _DAYS_BACK:
        raise ValueError(f"unknown time filter {request.time_filter!r}")
    zone = ZoneInfo(request.time_zone)
    today = now.astimezone(zone).date()
    days = 1 if request.time_filter == "yesterday" else 0
    first = today - timedelta(days=_DAYS_BACK[request.time_filter])
    last = today - timedelta(days=days)
    return (
        datetime.combine(first, time(), zone),
        datetime.combine(last + timedelta(days=1), time(), zone),
    )

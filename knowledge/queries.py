"""A search request in the terms of the two SQL statements that answer it. Pure."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from knowledge.contracts import SearchRequest
from knowledge.parsing import visible
from knowledge.subjects import words
from knowledge.time_windows import window

MAX_QUERY = 1_000
MAX_WORDS = 40
MAX_CANDIDATE_WORDS = 8
MAX_LIMIT = 50
PASSAGE_CHARS = 2_000
ENTITIES = 20
EXACT_VECTORS = 30_000  # comparing one takes 0.7 to 1.7 µs, and misses nothing
EXACT_ITEMS = 5_000
CANDIDATES = 100
NEWEST_MATCHES = 200  # of each word and account
RRF = 60
MAX_DISTANCE = 0.75  # cosine; a passage farther away has nothing to do with the question
_ADDRESS = re.compile(r"[^\s<>()\[\],;:\"]+@[^\s<>()\[\],;:\"]+")
_EDGES = ".,;:!?()[]<>{}\"'“”\u2018\u2019«»"
# Words that say nothing about what is looked for; without them a question matches by the rest.
_FILLERS = frozenset(
    words(
        "a about all an and any are as at be been but by can could did do does find for from get "
        "give had has have he her him his how i in is it its know latest me my of on or our "
        "please s say says search she should show t tell that the their them there they this to "
        "us was we were what when where which who whom whose why will with would you your"
    )
)
# What a time filter says already. “What is on today” asks for everything in it.
_TIMES = frozenset(
    words("today yesterday tomorrow week month day days last past this next on happening happens")
)
_CALENDARS = frozenset({"calendar", "calendar_file"})
_AGENDA = frozenset(
    words("calendar agenda schedule event events meeting meetings appointment appointments")
)


@dataclass(frozen=True, kw_only=True)
class Query:
    """`terms` are the words that count; `identifiers` what may be an id or an address."""

    text: str
    terms: tuple[str, ...]
    identifiers: tuple[str, ...]
    entity_words: tuple[str, ...]
    entity_address: str
    since: datetime | None
    until: datetime | None

    @property
    def word_queries(self) -> tuple[str, ...]:
        """Each term as a tsquery; long ones also as a beginning."""
        return tuple(f"'{term}'{':*' if len(term) > 3 else ''}" for term in self.terms)

    @property
    def candidate_words(self) -> tuple[str, ...]:
        """The terms that candidates are looked for by: the longest, which are the rarest."""
        longest = sorted(self.word_queries, key=len, reverse=True)[:MAX_CANDIDATE_WORDS]
        return tuple(word for word in self.word_queries if word in longest)


def understand(request: SearchRequest, *, now: datetime) -> Query:
    """What `request` asks for. Raises ValueError for a time filter that makes no sense."""
    text = " ".join(visible(request.query).split())[:MAX_QUERY]
    found = tuple(dict.fromkeys(words(text)))[:MAX_WORDS]
    entity = visible(request.entity)
    address = _ADDRESS.search(entity)
    since, until = window(request, now=now)
    terms = tuple(word for word in found if word not in _FILLERS) or found
    if request.time_filter:
        asked = _FILLERS | _TIMES
        if request.sources and _CALENDARS.issuperset(request.sources):
            asked |= _AGENDA
        terms = tuple(word for word in found if word not in asked)
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
    )


def parameters(
    request: SearchRequest, query: Query, *, vector: str | None, model: str
) -> dict[str, Any]:
    """The values of both statements of `knowledge.statements`."""
    by_entity = bool(query.entity_words or query.entity_address)
    narrowed = (request.sources, request.content_types, query.since, query.until)
    is_narrowed = by_entity or any(narrowed)
    return {
        "accounts": list(request.account_ids),
        **{f"account_{number}": id for number, id in enumerate(request.account_ids)},
        "sources": list(request.sources),
        "content_types": list(request.content_types),
        "excluded": list(request.excluded_ids),
        "since": query.since,
        "until": query.until,
        "any_term": " | ".join(query.word_queries),
        "all_terms": " & ".join(query.word_queries),
        "word_queries": list(query.word_queries),
        **{f"term_{number}": word for number, word in enumerate(query.candidate_words)},
        "terms": list(query.terms),
        "identifiers": list(query.identifiers),
        "by_entity": by_entity,
        "is_narrowed": is_narrowed,
        "entity_words": list(query.entity_words),
        "entity_address": query.entity_address,
        "vector": vector,
        "model": model,
        "limit": max(1, min(request.limit, MAX_LIMIT)),
        "passage_chars": PASSAGE_CHARS,
        "entity_limit": ENTITIES,
        "exact_vectors": EXACT_VECTORS,
        "exact_items": EXACT_ITEMS,
        "candidates": CANDIDATES,
        "newest_matches": NEWEST_MATCHES,
        "max_distance": MAX_DISTANCE,
        "rrf": RRF,
    }

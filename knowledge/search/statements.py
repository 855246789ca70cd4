"""The SQL statements of retrieval. All that varies is a parameter, but for a few clauses.

Few items are looked at one by one, by a statement of constant text: the server plans it once for
each connection, and one plan is good for anybody's few items. Of some more, those with any of the
words are found at once. Many are found through indexes: that statement names each account and each
word, so that the planner, which sees the values, chooses by how much there is of each, and drops
the filters that are not asked for and the branches that cannot be reached.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

from knowledge.ingest.write_counts import COUNTED_ITEMS
from knowledge.search import clauses, newest

FEW_ITEMS = 500
SOME_ITEMS = COUNTED_ITEMS - 1
_FEW = "(SELECT count(*) FROM all_words) < %(limit)s"
Graph = Literal["none", "some", "all"]  # of the accounts asked for are searched through it


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What decides which clauses a statement has."""

    languages: int
    has_words: bool
    by_entity: bool
    by_kind: bool  # of sources or types
    in_span: bool  # of time
    by_age: bool

    @property
    def is_narrowed(self) -> bool:
        return self.by_entity or self.by_kind or self.in_span


@cache
def render_among_few(shape: Shape) -> str:
    """The statement that finds items of accounts that hold at most FEW_ITEMS together."""
    items = clauses.ITEMS_AMONG_FEW.format(narrowed=_narrowed(shape), few=FEW_ITEMS)
    return _search(shape, f"{items}, {clauses.CHOSEN}", _all_passages(shape))


@cache
def render_among_some(shape: Shape, *, words: int, choosing: tuple[int, ...]) -> str:
    """The statement that finds items of accounts that hold at most SOME_ITEMS together, by so many
    words, of which those at the places `choosing` choose the items that are looked at."""
    stems = (stem for place in choosing for stem in _stems(place, shape.languages))
    items = clauses.ITEMS_AMONG_SOME.format(
        narrowed=f"i.deleted_at IS NULL AND {_narrowed(shape)}",
        every=_every(shape, words),
        any_word=" || ".join(["%(any_form)s::tsquery", *stems]),
    )
    return _search(shape, f"{items}, {clauses.CHOSEN}", _all_passages(shape))


@cache
def render_among_many(
    shape: Shape, *, accounts: int, words: int, choosing: tuple[int, ...], graph: Graph
) -> str:
    """The same of so many accounts, however much they hold. The graph answers for the accounts in
    `large`, for `some` or all of those that are asked for; `compared` are the others."""
    narrowed = f"i.deleted_at IS NULL AND {_narrowed(shape)}"
    find = partial(newest.render, accounts=accounts, narrowed=narrowed)
    with_word = [
        find(f"{_FEW} AND i.search @@ {_word(place, shape.languages)}") for place in choosing
    ]
    items = clauses.ITEMS_AMONG_MANY.format(
        narrowed=narrowed,
        all_words=find(f"i.search @@ ({_every(shape, words)})"),
        any_word=" UNION ALL ".join(with_word) or "SELECT * FROM knowledge_item WHERE false",
    )
    return _search(shape, items, _passages(shape, graph))


@cache
def render_among_large(shape: Shape, *, accounts: int, graph: Graph) -> str:
    """The same of accounts that hold very much."""
    narrowed = f"i.deleted_at IS NULL AND {_narrowed(shape)}"
    find = partial(newest.render_by_sample, accounts=accounts, narrowed=narrowed)
    items = clauses.ITEMS_AMONG_MANY.format(
        narrowed=narrowed,
        all_words=find("place = 0"),
        any_word=find(f"place = ANY(%(choosing)s::int[]) AND {_FEW}"),
    )
    samples = newest.render_samples(accounts=accounts, narrowed=narrowed)
    return _search(shape, f"{samples}, {items}", _passages(shape, graph))


@cache
def render_found_before(shape: Shape) -> str:
    """The statement that reads the items that an earlier search has found, as they are now."""
    return _read(shape, [clauses.WORDS, clauses.FOUND_BEFORE], clauses.FOUND_PASSAGE)


def _passages(shape: Shape, graph: Graph) -> str:
    of_items = clauses.OF_ITEMS if shape.is_narrowed else ""
    compared, large = (
        clauses.VECTORS.format(owners=owners, of_items=of_items) for owners in ("compared", "large")
    )
    unless_few = clauses.UNLESS_FEW if shape.is_narrowed else ""
    waiting = f"{unless_few} {clauses.NOT_IN_GRAPH}"
    branches = [clauses.COMPARED.format(vectors=compared, which="")] if graph != "all" else []
    if graph != "none":
        branches += [
            clauses.COMPARED.format(vectors=large, which=waiting),
            clauses.FROM_GRAPH.format(vectors=large, unless_few=unless_few),
        ]
    if graph == "none" or not shape.is_narrowed:
        return _united(branches)
    branches += [clauses.COMPARED.format(vectors=large, which=clauses.IF_FEW)]
    return f"{clauses.FEW_ITEMS}, {_united(branches)}"


def _united(branches: Sequence[str]) -> str:
    return clauses.PASSAGES_AMONG_MANY.format(branches=" UNION ALL ".join(branches))


def _search(shape: Shape, items: str, passages: str) -> str:
    more = [
        *([clauses.NEWEST] if shape.by_entity or not shape.has_words else ()),
        *([clauses.COMING] if shape.in_span and not shape.has_words else ()),
    ]
    share = clauses.SHARE_BY_AGE.format(at=_at(shape)) if shape.by_age else "1"
    times = "LEFT JOIN takes_place t ON t.item_id = id" if shape.in_span else ""
    with_age = f"JOIN knowledge_item i USING (id) {times}" if shape.by_age else ""
    lists = clauses.LISTS.format(share=share, with_age=with_age, more="".join(more))
    named = [clauses.NAMED] if shape.by_entity else []
    return _read(shape, [*named, clauses.WORDS, items, passages, lists], clauses.BEST_PASSAGE)


def _all_passages(shape: Shape) -> str:
    return clauses.ALL_PASSAGES.format(of_items=clauses.OF_ITEMS if shape.is_narrowed else "")


def _read(shape: Shape, parts: Sequence[str], passage: str) -> str:
    times = "LEFT JOIN takes_place t ON t.item_id = f.id" if shape.in_span else ""
    marked = clauses.MARKED if shape.has_words else "''"
    read = clauses.READ.format(passage=passage, with_times=times, at=_at(shape), marked=marked)
    return _written(f"WITH {','.join([*_times(shape), *parts])} {read}")


def _times(shape: Shape) -> Sequence[str]:
    return [clauses.TAKES_PLACE] if shape.in_span else []


def _at(shape: Shape) -> str:
    return "coalesce(t.starts_at, i.occurred_at)" if shape.in_span else "i.occurred_at"


def _filters(shape: Shape) -> str:
    of_kind = clauses.OF_KIND if shape.by_kind else ""
    return f"{of_kind} {clauses.IN_SPAN if shape.in_span else ''}"


def _narrowed(shape: Shape) -> str:
    about = clauses.ABOUT_ENTITY if shape.by_entity else ""
    return f"NOT i.id = ANY(%(excluded)s::uuid[]) {_filters(shape)} {about}"


def _written(statement: str) -> str:
    """It without what its readers want. Up to 4,096 characters psycopg translates once; what is
    longer takes it longer than all else that the search does in Python."""
    brief = " ".join(re.sub("--.*", "", statement).split())
    return re.sub(r"('[^']*')| ?([,()]) ?", lambda found: found[1] or found[2], brief)


def _every(shape: Shape, words: int) -> str:
    return " && ".join(_word(place, shape.languages) for place in range(words)) or "''::tsquery"


def _word(place: int, languages: int) -> str:
    return f"({' || '.join([f'%(word_{place})s::tsquery', *_stems(place, languages)])})"


def _stems(place: int, languages: int) -> Sequence[str]:
    return [
        f"plainto_tsquery(%(language_{one})s::regconfig, %(written_{place})s)"
        for one in range(languages)
    ]


@cache
def render_entities(shape: Shape) -> str:
    """The statement that lists the people and things that the query, or its filter, names. Nobody
    is listed without an item inside the walls."""
    return _written(f"""
WITH {",".join([clauses.NAMED, *_times(shape)])}
SELECT n.kind, n.name, n.address,
       count(*) FILTER (WHERE m.role = 'sender') AS sent, count(*) AS mentions
FROM named n
JOIN knowledge_mention m ON m.entity_id = n.id AND m.account_id = ANY(%(accounts)s::uuid[])
JOIN knowledge_item i ON i.id = m.item_id
WHERE i.account_id = ANY(%(accounts)s::uuid[]) AND i.deleted_at IS NULL {_filters(shape)}
GROUP BY n.id, n.kind, n.name, n.address, n.words
ORDER BY cardinality(ARRAY(
             SELECT unnest(n.words) INTERSECT SELECT unnest(%(terms)s::text[]))) DESC,
         sent DESC, mentions DESC, n.name, n.address, n.id
LIMIT %(entity_limit)s
""")  # noqa: S608  # only the constants of this module are put in

"""The SQL statements of retrieval. All that varies is a parameter, but for a few clauses.

Few items are looked at one by one, by a statement of constant text: the server plans it once for
each connection, and one plan is good for anybody's few items. Many are found through indexes: that
statement names each account and each word, so that the planner, which sees the values, chooses by
how much there is of each, and drops the filters that are not asked for and the branches that cannot
be reached.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from knowledge.ingest.write_counts import COUNTED_ITEMS
from knowledge.search import newest

FEW_ITEMS = COUNTED_ITEMS - 1


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


# The filters of the request. The tenant wall stands before them wherever they are used.
_OF_KIND = """
        AND (cardinality(%(sources)s::text[]) = 0 OR i.source = ANY(%(sources)s::text[]))
        AND (cardinality(%(content_types)s::text[]) = 0
             OR i.content_type = ANY(%(content_types)s::text[]))
"""
_IN_SPAN = """
        AND ((%(since)s::timestamptz IS NULL OR i.occurred_at >= %(since)s::timestamptz)
             AND (%(until)s::timestamptz IS NULL OR i.occurred_at < %(until)s::timestamptz)
             OR i.id = ANY(ARRAY(SELECT item_id FROM takes_place)))
"""

# Events of which one occurrence lies in the span that is asked for, and when the first does.
# An event begins before it ends, but how long before nobody knows: of a span that is open at
# its beginning, and of events longer than a month, the first time alone counts.
_TAKES_PLACE = """
    takes_place AS MATERIALIZED (
        SELECT item_id, min(starts_at) AS starts_at
        FROM knowledge_occurrence
        WHERE account_id = ANY(%(accounts)s::uuid[])
          AND %(since)s::timestamptz IS NOT NULL
          AND starts_at >= %(since)s::timestamptz - interval '31 days'
          AND (%(until)s::timestamptz IS NULL OR starts_at < %(until)s::timestamptz)
          AND (starts_at >= %(since)s::timestamptz OR ends_at > %(since)s::timestamptz)
        GROUP BY item_id
    )
"""

# Entities of the users whose accounts these are: those the filter names or, without a
# filter, those the words of the query name.
_NAMED = """
    named AS MATERIALIZED (
        SELECT DISTINCT e.id, e.kind, e.name, e.address, e.words
        FROM knowledge_entity e
        JOIN integrations_account a
          ON a.organisation_id = e.organisation_id AND a.external_user_id = e.external_user_id
        WHERE a.id = ANY(%(accounts)s::uuid[]) AND CASE
            WHEN %(entity_address)s <> '' THEN e.address = %(entity_address)s
            WHEN %(by_entity)s THEN e.words @> %(entity_words)s::text[]
            ELSE e.words && %(terms)s::text[] OR e.address = ANY(%(identifiers)s::text[]) END
    )
"""

# Its own text, because the planner turns an IN into a join only where it stands alone.
_ABOUT_ENTITY = """ AND i.id IN (
            SELECT m.item_id FROM knowledge_mention m JOIN named n ON n.id = m.entity_id
            WHERE m.account_id = ANY(%(accounts)s::uuid[]))"""


# What was found, with the passage that says why. The wall stands here too: what is read may have
# been found a while ago.
_READ = """
SELECT i.id, i.account_id, i.source, i.source_id, i.content_type, i.title, i.summary,
       coalesce(left(passage.text, %(passage_chars)s), ''),
       f.relevance::float8, {at}, i.metadata,
       i.sender_name, i.sender_address, passage.id,
       {marked}
FROM fused f CROSS JOIN wanted
JOIN knowledge_item i ON i.id = f.id AND i.account_id = ANY(%(accounts)s::uuid[])
     AND i.deleted_at IS NULL
{with_times}
LEFT JOIN LATERAL ({passage}) passage ON true
ORDER BY f.relevance DESC, f.id
"""
_MARKED = """ts_headline(
           coalesce(i.languages[1], 'simple')::regconfig,
           coalesce(left(passage.text, %(passage_chars)s), ''), wanted.some, %(marks)s)"""
_BEST_PASSAGE = """
    SELECT c.id, c.text FROM knowledge_chunk c WHERE c.item_id = f.id
    ORDER BY (c.id = f.chunk_id) DESC,
             CASE WHEN f.chunk_id IS NULL THEN ts_rank(
                 to_tsvector(coalesce(i.languages[1], 'simple')::regconfig, c.text), wanted.some)
             END DESC,
             CASE WHEN f.chunk_id IS NULL THEN (
                 SELECT count(*) FROM unnest(%(written)s::text[]) word
                 WHERE strpos(lower(c.text), word) > 0) END DESC,
             c.position
    LIMIT 1
"""
# A share of the weight by age, halving with every half-life; who asks for an exact id does not
# ask for news.
_SHARE_BY_AGE = """CASE list WHEN 'identifier' THEN 1 ELSE power(0.5::float8, least(200, greatest(0,
                   extract(epoch FROM %(now)s::timestamptz - {at})
                   / 86400 / %(half_life)s))) END"""


# What is looked for: each word as it is written and by its stems in the languages of the accounts;
# all of them, any of them, and any of those that choose candidates.
_WORDS = """
    word AS MATERIALIZED (
        SELECT place, place = ANY(%(choosing)s::int[]) AS chooses, plain::tsquery{stems} AS query
        FROM unnest(%(words)s::text[], %(written)s::text[])
             WITH ORDINALITY given (plain, written, place)
    ),
    wanted AS MATERIALIZED (
        SELECT string_agg(part, ' & ')::tsquery AS every,
               string_agg(part, ' | ')::tsquery AS some,
               string_agg(part, ' | ') FILTER (WHERE chooses)::tsquery AS choosing
        FROM (SELECT '(' || query::text || ')' AS part, chooses FROM word) parts
    )
"""

# Where there are few items each is looked at, and every vector is compared. Nothing is left to the
# planner: as many as these are read by their account, the newest first, whatever it expects.
_FEW_ITEMS = f"""
    eligible AS MATERIALIZED (
        SELECT i.id, i.account_id, i.occurred_at, i.identifiers, i.search @@ wanted.every AS every,
               CASE WHEN i.search @@ wanted.choosing THEN i.search END AS search
        FROM wanted CROSS JOIN unnest(%(accounts)s::uuid[]) owner (id)
        CROSS JOIN LATERAL (
            SELECT * FROM knowledge_item
            WHERE account_id = owner.id AND deleted_at IS NULL
            ORDER BY occurred_at DESC LIMIT {FEW_ITEMS}) i
        WHERE {{narrowed}}
    ),
    chosen AS (
        SELECT e.*, row_number() OVER (
            PARTITION BY account_id, place ORDER BY occurred_at DESC, id) AS number
        FROM eligible e JOIN (
            SELECT place, query FROM word
            WHERE chooses AND (SELECT count(*) FROM eligible WHERE every) < %(limit)s
            UNION ALL SELECT 0, every FROM wanted) asked ON e.search @@ query
    ),
    matches AS MATERIALIZED (
        SELECT DISTINCT ON (id) * FROM chosen WHERE number <= %(newest_matches)s
    )
"""  # noqa: S608  # a constant
_FEW_PASSAGES = """
    passages AS (
        SELECT v.chunk_id, v.item_id, v.vector <=> %(vector)s::halfvec AS distance
        FROM eligible i CROSS JOIN LATERAL (
            SELECT * FROM knowledge_chunkvector
            WHERE item_id = i.id AND account_id = i.account_id AND model = %(model)s OFFSET 0) v
        WHERE %(vector)s::halfvec IS NOT NULL ORDER BY distance, chunk_id LIMIT %(candidates)s
    )
"""

# Each account and each word is asked for by itself and by name: so the planner knows how much
# there is.
_MANY_ITEMS = """
    eligible AS NOT MATERIALIZED (
        SELECT i.* FROM knowledge_item i
        WHERE i.account_id = ANY(%(accounts)s::uuid[]) AND {narrowed}
    ),
    all_words AS MATERIALIZED (
        SELECT id, occurred_at, true AS every, search FROM ({all_words}) i
    ),
    any_word AS MATERIALIZED (
        SELECT id, occurred_at, false AS every, search FROM ({any_word}) i
    ),
    matches AS MATERIALIZED (
        SELECT DISTINCT ON (id) *
        FROM (SELECT * FROM all_words UNION ALL SELECT * FROM any_word) found
        ORDER BY id, every DESC
    )
"""
# Where there are few vectors, or filters leave few items, every one is compared (`+ 0` keeps
# the index out); else the index answers. The planner chooses wrongly between the two ways,
# and an index scan that filters throws most of what it finds away: so the statement decides.
# Items are looked at only where a filter is about them: joining them costs as much as comparing.
_MANY_PASSAGES = """
    path AS MATERIALIZED (
        SELECT (SELECT count(*) FROM (
                    SELECT FROM knowledge_chunkvector
                    WHERE account_id = ANY(%(accounts)s::uuid[]) AND model = %(model)s
                    LIMIT %(exact_vectors)s + 1) few) <= %(exact_vectors)s
            {or_few_items} AS is_exact
    ),
    passages AS (
        (SELECT v.chunk_id, v.item_id, (v.vector <=> %(vector)s::halfvec) + 0 AS distance
         FROM {vectors} AND (SELECT is_exact FROM path)
         ORDER BY distance LIMIT %(candidates)s)
        UNION ALL
        (SELECT v.chunk_id, v.item_id, v.vector <=> %(vector)s::halfvec AS distance
         FROM {vectors} AND NOT (SELECT is_exact FROM path)
         ORDER BY v.vector <=> %(vector)s::halfvec LIMIT %(candidates)s)
    )
"""
_OR_FEW_ITEMS = """
            OR (SELECT count(*) FROM (
                    SELECT FROM eligible LIMIT %(exact_items)s + 1) few) <= %(exact_items)s"""
_VECTORS = """knowledge_chunkvector v {of_items}
         WHERE v.account_id = ANY(%(accounts)s::uuid[]) AND v.model = %(model)s
           AND NOT v.item_id = ANY(%(excluded)s::uuid[]) AND %(vector)s::halfvec IS NOT NULL"""

# Candidates by words (all of them; if too few, any of them), by exact identifier and by
# vector, and the newest items where the query has no words or names whose items are wanted
# (beside what takes place in the span, earliest first);
# joined by reciprocal rank fusion into a share of what the first place in every list would
# give; read with their best passage.
#
# Words: what holds all of them comes first; then a word counts the more, the fewer of the
# candidates hold it, and two that stand side by side as asked count as one more. Of a common word
# only the newest matches are candidates, or it would read most of the account; of a rare one all
# are.
# Identifiers: OFFSET 0 keeps the planner from reading all items by time to find a few.
_LISTS = """
    holds AS MATERIALIZED (
        SELECT m.id, m.every, m.occurred_at, term, ts_rank(m.search, term, 1) AS share
        FROM matches m JOIN (
            SELECT query AS term FROM word
            UNION ALL
            SELECT tsquery_phrase(one.query, next.query)
            FROM word one JOIN word next ON next.place = one.place + 1
            WHERE one.place = ANY(%(neighbours)s::int[])) terms ON m.search @@ term
    ),
    rarity AS (
        SELECT term, ln(1 + (SELECT count(*) FROM matches) / count(*)::float8) AS weight
        FROM holds GROUP BY term
    ),
    by_words AS (
        SELECT id, NULL::bigint AS chunk_id, row_number() OVER (
            ORDER BY every DESC, sum(share * weight) DESC, occurred_at DESC, id) AS rank
        FROM holds JOIN rarity USING (term)
        GROUP BY id, every, occurred_at ORDER BY rank LIMIT %(candidates)s
    ),
    by_identifier AS (
        SELECT id, NULL::bigint AS chunk_id,
               row_number() OVER (ORDER BY occurred_at DESC, id) AS rank
        FROM (SELECT * FROM eligible WHERE identifiers && %(identifiers)s::text[] OFFSET 0) exact
        ORDER BY rank LIMIT %(candidates)s
    ),
    by_vector AS (
        SELECT item_id AS id, (array_agg(chunk_id ORDER BY distance, chunk_id))[1] AS chunk_id,
               row_number() OVER (ORDER BY min(distance), item_id) AS rank
        FROM passages WHERE distance <= %(max_distance)s GROUP BY item_id
    ),
    hits AS (
        SELECT 'words' AS list, 1.0 AS weight, * FROM by_words
        UNION ALL SELECT 'identifier', 1.5, * FROM by_identifier  -- before any that has the words
        UNION ALL SELECT 'vector', %(vector_weight)s, * FROM by_vector
        {more}
    ),
    fused AS (
        SELECT id, max(chunk_id) AS chunk_id,
               sum(weight * {share} / (%(rrf)s + rank)) * (%(rrf)s + 1)
                   / (SELECT sum(weight) FROM hits WHERE rank = 1) AS relevance
        FROM hits {with_age} GROUP BY id
        ORDER BY relevance DESC, id LIMIT %(limit)s
    )
"""
_NEWEST = """
        UNION ALL
        SELECT 'newest', 1.0, id, NULL, row_number() OVER (ORDER BY occurred_at DESC, id)
        FROM (SELECT id, occurred_at FROM eligible
              ORDER BY occurred_at DESC, id LIMIT %(limit)s) newest
"""
_COMING = """
        UNION ALL
        SELECT 'coming', 1.0, id, NULL, row_number() OVER (ORDER BY starts_at, id)
        FROM (SELECT i.id, t.starts_at FROM takes_place t JOIN eligible i ON i.id = t.item_id
              ORDER BY t.starts_at, i.id LIMIT %(limit)s) coming
"""


@cache
def render_among_few(shape: Shape) -> str:
    """The statement that finds items of accounts that hold at most FEW_ITEMS together."""
    return _search(shape, _FEW_ITEMS.format(narrowed=_narrowed(shape)), _FEW_PASSAGES)


@cache
def render_among_many(
    shape: Shape, *, accounts: int, words: int, choosing: tuple[int, ...], are_large: bool
) -> str:
    """The statement that finds items of so many accounts by so many words, of which those at
    the places `choosing` choose the items that are looked at."""
    narrowed = _narrowed(shape)
    find = partial(newest.render, accounts=accounts, narrowed=narrowed, are_large=are_large)
    few = "(SELECT count(*) FROM all_words) < %(limit)s"
    queries = [_word(number, shape.languages) for number in range(words)]
    every = " && ".join(queries) or "''::tsquery"
    with_word = [find(f"{few} AND i.search @@ {queries[place]}") for place in choosing]
    items = _MANY_ITEMS.format(
        narrowed=narrowed,
        all_words=find(f"i.search @@ ({every})"),
        any_word=" UNION ALL ".join(with_word) or "SELECT * FROM knowledge_item WHERE false",
    )
    if are_large:
        items = ",".join([*newest.render_samples(accounts), items])
    of_items, or_few_items = (
        ("JOIN eligible i ON i.id = v.item_id", _OR_FEW_ITEMS) if shape.is_narrowed else ("", "")
    )
    vectors = _VECTORS.format(of_items=of_items)
    return _search(shape, items, _MANY_PASSAGES.format(vectors=vectors, or_few_items=or_few_items))


@cache
def render_found_before(shape: Shape) -> str:
    """The statement that reads the items that an earlier search has found, as they are now."""
    found = """
        fused AS (
            SELECT * FROM unnest(%(found_ids)s::uuid[], %(found_passages)s::bigint[],
                                 %(found_relevance)s::float8[]) AS f (id, chunk_id, relevance)
        )"""
    passage = """
        SELECT c.id, c.text FROM knowledge_chunk c WHERE c.id = f.chunk_id AND c.item_id = f.id"""
    return _read(shape, [_words(shape.languages), found], passage)


def _search(shape: Shape, items: str, passages: str) -> str:
    more = [
        *([_NEWEST] if shape.by_entity or not shape.has_words else ()),
        *([_COMING] if shape.in_span and not shape.has_words else ()),
    ]
    share = _SHARE_BY_AGE.format(at=_at(shape)) if shape.by_age else "1"
    times = "LEFT JOIN takes_place t ON t.item_id = id" if shape.in_span else ""
    with_age = f"JOIN knowledge_item i USING (id) {times}" if shape.by_age else ""
    lists = _LISTS.format(share=share, with_age=with_age, more="".join(more))
    named = [_NAMED] if shape.by_entity else []
    return _read(shape, [*named, _words(shape.languages), items, passages, lists], _BEST_PASSAGE)


def _read(shape: Shape, parts: Sequence[str], passage: str) -> str:
    times = "LEFT JOIN takes_place t ON t.item_id = f.id" if shape.in_span else ""
    marked = _MARKED if shape.has_words else "''"
    read = _READ.format(passage=passage, with_times=times, at=_at(shape), marked=marked)
    return _written(f"WITH {','.join([*_times(shape), *parts])} {read}")


def _times(shape: Shape) -> Sequence[str]:
    return [_TAKES_PLACE] if shape.in_span else []


def _at(shape: Shape) -> str:
    return "coalesce(t.starts_at, i.occurred_at)" if shape.in_span else "i.occurred_at"


def _filters(shape: Shape) -> str:
    of_kind = _OF_KIND if shape.by_kind else ""
    return f"i.deleted_at IS NULL {of_kind} {_IN_SPAN if shape.in_span else ''}"


def _narrowed(shape: Shape) -> str:
    about = _ABOUT_ENTITY if shape.by_entity else ""
    return f"{_filters(shape)} AND NOT i.id = ANY(%(excluded)s::uuid[]) {about}"


def _words(languages: int) -> str:
    stems = (f" || {_stems(number, 'written')}" for number in range(languages))
    return _WORDS.format(stems="".join(stems))


def _stems(language: int, word: str) -> str:
    return f"plainto_tsquery(%(language_{language})s::regconfig, {word})"


def _written(statement: str) -> str:
    """It without what its readers want. Up to 4,096 characters psycopg translates once; what is
    longer takes it longer than all else that the search does in Python."""
    return re.sub(r"(?<=\() | (?=\))", "", " ".join(re.sub("--.*", "", statement).split()))


def _word(number: int, languages: int) -> str:
    stems = (_stems(one, f"%(written_{number})s") for one in range(languages))
    return f"({' || '.join([f'%(word_{number})s::tsquery', *stems])})"


@cache
def render_entities(shape: Shape) -> str:
    """The statement that lists the people and things that the query, or its filter, names. Nobody
    is listed without an item inside the walls."""
    return _written(f"""
WITH {",".join([_NAMED, *_times(shape)])}
SELECT n.kind, n.name, n.address,
       count(*) FILTER (WHERE m.role = 'sender') AS sent, count(*) AS mentions
FROM named n
JOIN knowledge_mention m ON m.entity_id = n.id AND m.account_id = ANY(%(accounts)s::uuid[])
JOIN knowledge_item i ON i.id = m.item_id
WHERE i.account_id = ANY(%(accounts)s::uuid[]) AND {_filters(shape)}
GROUP BY n.id, n.kind, n.name, n.address, n.words
ORDER BY cardinality(ARRAY(
             SELECT unnest(n.words) INTERSECT SELECT unnest(%(terms)s::text[]))) DESC,
         sent DESC, mentions DESC, n.name, n.address, n.id
LIMIT %(entity_limit)s
""")  # noqa: S608  # only the constants of this module are put in

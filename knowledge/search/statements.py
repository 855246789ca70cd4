"""The two SQL statements of retrieval. Constant text, but for how many accounts, words and
languages there are: everything else that varies is a parameter.

Django writes parameters into the statement as literals, so the planner drops the filters
that are not asked for and the branches that cannot be reached.
"""

from functools import cache

# The filters of the request. The tenant wall stands before them wherever they are used.
_FILTERS = """
        i.deleted_at IS NULL
        AND (cardinality(%(sources)s::text[]) = 0 OR i.source = ANY(%(sources)s::text[]))
        AND (cardinality(%(content_types)s::text[]) = 0
             OR i.content_type = ANY(%(content_types)s::text[]))
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
_ABOUT_ENTITY = """AND i.id IN (
            SELECT m.item_id FROM knowledge_mention m JOIN named n ON n.id = m.entity_id
            WHERE m.account_id = ANY(%(accounts)s::uuid[]))"""


# What was found, with the passage that says why. The wall stands here too: what is read may have
# been found a while ago.
_READ = """
SELECT i.id, i.account_id, i.source, i.source_id, i.content_type, i.title, i.summary,
       coalesce(left(passage.text, %(passage_chars)s), '') AS text,
       f.relevance::float8, coalesce(t.starts_at, i.occurred_at), i.metadata,
       i.sender_name, i.sender_address, passage.id,
       CASE WHEN %(has_words)s THEN ts_headline(
           coalesce(i.languages[1], 'simple')::regconfig,
           coalesce(left(passage.text, %(passage_chars)s), ''), {some}, %(marks)s) ELSE '' END
FROM fused f
JOIN knowledge_item i ON i.id = f.id AND i.account_id = ANY(%(accounts)s::uuid[])
     AND i.deleted_at IS NULL
LEFT JOIN takes_place t ON t.item_id = f.id
LEFT JOIN LATERAL ({passage}) passage ON true
ORDER BY f.relevance DESC, f.id
"""
_BEST_PASSAGE = """
    SELECT c.id, c.text FROM knowledge_chunk c WHERE c.item_id = f.id
    ORDER BY (c.id = f.chunk_id) DESC,
             CASE WHEN f.chunk_id IS NULL THEN ts_rank(
                 to_tsvector(coalesce(i.languages[1], 'simple')::regconfig, c.text), {some})
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
                   extract(epoch FROM %(now)s::timestamptz - coalesce(t.starts_at, i.occurred_at))
                   / 86400 / %(half_life)s))) END"""
_WITH_AGE = """JOIN knowledge_item i USING (id)
             LEFT JOIN (SELECT item_id AS id, starts_at FROM takes_place) t USING (id)"""


# Candidates by words (all of them; if too few, any of them), by exact identifier and by
# vector, and the newest items where the query has no words or names whose items are wanted
# (beside what takes place in the span, earliest first);
# joined by reciprocal rank fusion into a share of what the first place in every list would
# give; read with their best passage.
#
# Vectors: where there are few, or filters leave few items, every one is compared (`+ 0` keeps
# the index out); else the index answers. The planner chooses wrongly between the two ways,
# and an index scan that filters throws most of what it finds away: so the statement decides.
# Items are looked at only where a filter is about them: joining them costs as much as comparing.
# Words: what holds all of them comes first; then a word counts the more, the fewer of the
# candidates hold it, and two that stand side by side as asked count as one more. Of a common word
# only the newest matches are candidates, or it would read most of the account; of a rare one all
# are.
# A word is looked for as it is written and by its stems in the languages of the accounts.
# Each account and each word is asked for by itself and by name: so the planner knows how much
# there is, and chooses between the newest items and the index of words.
# Identifiers: OFFSET 0 keeps the planner from reading all items by time to find a few.
_VECTORS = """v.account_id = ANY(%(accounts)s::uuid[]) AND v.model = %(model)s
           AND NOT v.item_id = ANY(%(excluded)s::uuid[]) AND %(vector)s IS NOT NULL"""


@cache
def render_search(
    *,
    accounts: int,
    words: int,
    candidates: tuple[int, ...],
    neighbours: tuple[int, ...],
    languages: int,
    by_entity: bool,
    by_age: bool,
) -> str:
    """The statement that finds items of so many accounts by so many words, of which those at
    the places `candidates` choose the items that are looked at, and those at `neighbours` count
    once more where the next one follows."""
    about = _ABOUT_ENTITY if by_entity else ""
    narrowed = f"{_FILTERS} AND NOT i.id = ANY(%(excluded)s::uuid[]) {about}"

    def newest(words: str) -> str:
        return " UNION ALL ".join(
            f"""(SELECT i.* FROM knowledge_item i
                WHERE i.account_id = %(account_{number})s AND {narrowed} AND {words}
                ORDER BY i.occurred_at DESC LIMIT %(newest_matches)s)"""  # noqa: S608
            for number in range(accounts)
        )

    share, with_age = (_SHARE_BY_AGE, _WITH_AGE) if by_age else ("1", "")
    few = "(SELECT count(*) FROM all_words) < %(limit)s"
    queries = [_word(number, languages) for number in range(words)]
    every, some = (join.join(queries) or "''::tsquery" for join in (" && ", " || "))
    pairs = [f"tsquery_phrase({queries[one]}, {queries[one + 1]})" for one in neighbours]
    with_word = [newest(f"{few} AND i.search @@ {queries[place]}") for place in candidates]
    return f"""
WITH {_NAMED}, {_TAKES_PLACE},
    eligible AS NOT MATERIALIZED (
        SELECT i.* FROM knowledge_item i
        WHERE i.account_id = ANY(%(accounts)s::uuid[]) AND {narrowed}
    ),
    all_words AS MATERIALIZED (
        SELECT id, occurred_at, true AS every, search
        FROM ({newest(f"i.search @@ ({every})")}) i
    ),
    any_word AS MATERIALIZED (
        SELECT id, occurred_at, false AS every, search
        FROM ({" UNION ALL ".join(with_word) or "SELECT * FROM knowledge_item WHERE false"}) i
    ),
    matches AS MATERIALIZED (
        SELECT DISTINCT ON (id) *
        FROM (SELECT * FROM all_words UNION ALL SELECT * FROM any_word) found
        ORDER BY id, every DESC
    ),
    holds AS MATERIALIZED (
        SELECT m.id, m.every, m.occurred_at, term, ts_rank(m.search, term, 1) AS share
        FROM matches m CROSS JOIN LATERAL unnest(
            ARRAY[{", ".join([*queries, *pairs])}]::tsquery[]) term
        WHERE m.search @@ term
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
        FROM (SELECT id, occurred_at
              FROM (SELECT * FROM eligible WHERE identifiers && %(identifiers)s::text[]
                    OFFSET 0) exact
              ORDER BY occurred_at DESC, id LIMIT %(candidates)s) found
    ),
    path AS MATERIALIZED (
        SELECT (SELECT count(*) FROM (
                    SELECT FROM knowledge_chunkvector
                    WHERE account_id = ANY(%(accounts)s::uuid[]) AND model = %(model)s
                    LIMIT %(exact_vectors)s + 1) few) <= %(exact_vectors)s
            OR %(is_narrowed)s AND (SELECT count(*) FROM (
                    SELECT FROM eligible LIMIT %(exact_items)s + 1) few) <= %(exact_items)s
            AS is_exact
    ),
    passages AS (
        (SELECT v.chunk_id, v.item_id, (v.vector <=> %(vector)s::halfvec) + 0 AS distance
         FROM knowledge_chunkvector v
         WHERE {_VECTORS} AND NOT %(is_narrowed)s AND (SELECT is_exact FROM path)
         ORDER BY distance LIMIT %(candidates)s)
        UNION ALL
        (SELECT v.chunk_id, v.item_id, (v.vector <=> %(vector)s::halfvec) + 0 AS distance
         FROM knowledge_chunkvector v JOIN eligible i ON i.id = v.item_id
         WHERE {_VECTORS} AND %(is_narrowed)s AND (SELECT is_exact FROM path)
         ORDER BY distance LIMIT %(candidates)s)
        UNION ALL
        (SELECT v.chunk_id, v.item_id, v.vector <=> %(vector)s::halfvec AS distance
         FROM knowledge_chunkvector v
         WHERE {_VECTORS} AND NOT %(is_narrowed)s AND NOT (SELECT is_exact FROM path)
         ORDER BY v.vector <=> %(vector)s::halfvec LIMIT %(candidates)s)
        UNION ALL
        (SELECT v.chunk_id, v.item_id, v.vector <=> %(vector)s::halfvec AS distance
         FROM knowledge_chunkvector v JOIN eligible i ON i.id = v.item_id
         WHERE {_VECTORS} AND %(is_narrowed)s AND NOT (SELECT is_exact FROM path)
         ORDER BY v.vector <=> %(vector)s::halfvec LIMIT %(candidates)s)
    ),
    by_vector AS (
        SELECT item_id AS id, (array_agg(chunk_id ORDER BY distance, chunk_id))[1] AS chunk_id,
               row_number() OVER (ORDER BY min(distance), item_id) AS rank
        FROM passages WHERE distance <= %(max_distance)s GROUP BY item_id
    ),
    newest AS (
        SELECT id, NULL::bigint AS chunk_id,
               row_number() OVER (ORDER BY occurred_at DESC, id) AS rank
        FROM (SELECT id, occurred_at FROM eligible WHERE NOT %(has_words)s OR %(by_entity)s
              ORDER BY occurred_at DESC, id LIMIT %(limit)s) found
    ),
    coming AS (
        SELECT i.id, NULL::bigint AS chunk_id,
               row_number() OVER (ORDER BY t.starts_at, i.id) AS rank
        FROM takes_place t JOIN eligible i ON i.id = t.item_id
        WHERE NOT %(has_words)s ORDER BY rank LIMIT %(limit)s
    ),
    hits AS (
        SELECT 'words' AS list, 1.0 AS weight, * FROM by_words
        UNION ALL SELECT 'identifier', 1.5, * FROM by_identifier  -- before any that has the words
        UNION ALL SELECT 'vector', %(vector_weight)s, * FROM by_vector
        UNION ALL SELECT 'newest', 1.0, * FROM newest
        UNION ALL SELECT 'coming', 1.0, * FROM coming
    ),
    fused AS (
        SELECT id, max(chunk_id) AS chunk_id,
               sum(weight * {share} / (%(rrf)s + rank)) * (%(rrf)s + 1)
                   / (SELECT sum(weight) FROM hits WHERE rank = 1) AS relevance
        FROM hits {with_age} GROUP BY id
        ORDER BY relevance DESC, id LIMIT %(limit)s
    )
{_READ.format(passage=_BEST_PASSAGE.format(some=some), some=some)}
"""  # noqa: S608  # only the constants of this module are put in


@cache
def render_found_before(*, words: int, languages: int) -> str:
    """The statement that reads the items that an earlier search has found, as they are now."""
    some = " || ".join(_word(number, languages) for number in range(words)) or "''::tsquery"
    passage = "SELECT c.id, c.text FROM knowledge_chunk c WHERE c.id = f.chunk_id"
    return f"""
WITH {_TAKES_PLACE},
    fused AS (
        SELECT * FROM unnest(%(found_ids)s::uuid[], %(found_passages)s::bigint[],
                             %(found_relevance)s::float8[]) AS f (id, chunk_id, relevance)
    )
{_READ.format(passage=f"{passage} AND c.item_id = f.id", some=some)}
"""  # noqa: S608  # only the constants of this module are put in


def _word(number: int, languages: int) -> str:
    stems = (
        f"plainto_tsquery(%(language_{one})s::regconfig, %(written_{number})s)"
        for one in range(languages)
    )
    return f"({' || '.join([f'%(word_{number})s::tsquery', *stems])})"


# Nobody is listed without an item inside the walls.
ENTITIES = f"""
WITH {_NAMED}, {_TAKES_PLACE}
SELECT n.kind, n.name, n.address,
       count(*) FILTER (WHERE m.role = 'sender') AS sent, count(*) AS mentions
FROM named n
JOIN knowledge_mention m ON m.entity_id = n.id AND m.account_id = ANY(%(accounts)s::uuid[])
JOIN knowledge_item i ON i.id = m.item_id
WHERE i.account_id = ANY(%(accounts)s::uuid[]) AND {_FILTERS}
GROUP BY n.id, n.kind, n.name, n.address, n.words
ORDER BY cardinality(ARRAY(
             SELECT unnest(n.words) INTERSECT SELECT unnest(%(terms)s::text[]))) DESC,
         sent DESC, mentions DESC, n.name, n.address, n.id
LIMIT %(entity_limit)s
"""  # noqa: S608  # the same

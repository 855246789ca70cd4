"""The parts of the SQL statements of retrieval (`knowledge.search.statements`), in the order in
which they stand in one."""

# The filters of the request. The tenant wall stands before them wherever they are used.
OF_KIND = """
        AND (cardinality(%(sources)s::text[]) = 0 OR i.source = ANY(%(sources)s::text[]))
        AND (cardinality(%(content_types)s::text[]) = 0
             OR i.content_type = ANY(%(content_types)s::text[]))
"""
IN_SPAN = """
        AND ((%(since)s::timestamptz IS NULL OR i.occurred_at >= %(since)s::timestamptz)
             AND (%(until)s::timestamptz IS NULL OR i.occurred_at < %(until)s::timestamptz)
             OR i.id = ANY(ARRAY(SELECT item_id FROM takes_place)))
"""

# Events of which one occurrence lies in the span that is asked for, and when the first does.
# An event begins before it ends, but how long before nobody knows: of a span that is open at
# its beginning, and of events longer than a month, the first time alone counts.
TAKES_PLACE = """
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
NAMED = """
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
ABOUT_ENTITY = """ AND i.id IN (
            SELECT m.item_id FROM knowledge_mention m JOIN named n ON n.id = m.entity_id
            WHERE m.account_id = ANY(%(accounts)s::uuid[]))"""


# What was found, with the passage that says why. The wall stands here too: what is read may have
# been found a while ago.
READ = """
SELECT i.id, i.account_id, i.source, i.source_id, i.content_type, i.title, i.summary,
       coalesce(passage.text, ''), f.relevance::float8, {at}, i.metadata,
       i.sender_name, i.sender_address, passage.id, {marked}
FROM wanted, fused f
JOIN knowledge_item i ON i.id = f.id AND i.account_id = ANY(%(accounts)s::uuid[])
     AND i.deleted_at IS NULL
{with_times}
LEFT JOIN LATERAL ({passage}) passage ON true
ORDER BY f.relevance DESC, f.id
"""
MARKED = """ts_headline(coalesce(i.languages[1], 'simple')::regconfig, passage.text, wanted.some,
                        %(marks)s)"""
# The one that was found; else that with most of the words, if there are several.
BEST_PASSAGE = """
    SELECT c.id, left(c.text, %(passage_chars)s) AS text FROM knowledge_chunk c
    WHERE c.item_id = f.id AND coalesce(c.id = f.chunk_id, true)
    ORDER BY CASE WHEN count(*) OVER () > 1 THEN ROW(
        ts_rank(to_tsvector(coalesce(i.languages[1], 'simple')::regconfig, c.text), wanted.some),
        (SELECT count(*) FROM unnest(%(written)s::text[]) one WHERE strpos(lower(c.text), one) > 0)
    ) END DESC, c.position LIMIT 1
"""
FOUND_BEFORE = """
    fused AS (
        SELECT * FROM unnest(%(found_ids)s::uuid[], %(found_passages)s::bigint[],
                             %(found_relevance)s::float8[]) AS f (id, chunk_id, relevance)
    )"""
FOUND_PASSAGE = """
    SELECT c.id, left(c.text, %(passage_chars)s) AS text FROM knowledge_chunk c
    WHERE c.id = f.chunk_id AND c.item_id = f.id"""
# A share of the weight by age, halving with every half-life; who asks for an exact id does not
# ask for news.
SHARE_BY_AGE = """CASE list WHEN 'identifier' THEN 1 ELSE power(0.5::float8, least(200, greatest(0,
                   extract(epoch FROM %(now)s::timestamptz - {at})
                   / 86400 / %(half_life)s))) END"""


# What is looked for: each word as it is written and by its stems in the languages of the accounts;
# all of them, any of them, and any of those that choose candidates, in the fewest forms: an item is
# looked at for each.
WORDS = """
    word AS (
        SELECT place, stems, concat_ws(' | ', plain, stems)::tsquery AS query
        FROM unnest(%(words)s::text[], %(written)s::text[])
             WITH ORDINALITY given (plain, written, place), LATERAL (
            SELECT string_agg(nullif(plainto_tsquery(name::regconfig, written)::text, ''), ' | ')
            FROM unnest(%(languages)s::text[]) name) stemmed (stems)
    ),
    wanted AS MATERIALIZED (
        SELECT string_agg(part, ' & ')::tsquery AS every, string_agg(part, ' | ')::tsquery AS some,
               concat_ws(' | ', %(any_form)s::text, string_agg(stems, ' | ')
                   FILTER (WHERE place = ANY(%(choosing)s::int[])))::tsquery AS choosing
        FROM (SELECT *, concat('(', query, ')') AS part FROM word) parts
    )
"""

# Where there are few items each is looked at, and every vector is compared. Nothing is left to the
# planner: as many as these are read by their account, the newest first, whatever it expects.
ITEMS_AMONG_FEW = """
    eligible AS (
        SELECT i.id, i.account_id, i.occurred_at, i.identifiers,
               CASE WHEN i.search @@ choosing THEN i.search || '' END AS search
        FROM wanted, unnest(%(accounts)s::uuid[]) owner (id), LATERAL (
            SELECT * FROM knowledge_item
            WHERE account_id = owner.id AND deleted_at IS NULL
            ORDER BY occurred_at DESC LIMIT {few}) i
        WHERE {narrowed}
    ),
    held AS (
        SELECT e.*, search @@ every AS every FROM eligible e, wanted WHERE search IS NOT NULL
    )
"""
# And of those that hold a word, the newest of each word.
CHOSEN = """
    chosen AS (
        SELECT *, row_number() OVER (
            PARTITION BY account_id, place ORDER BY occurred_at DESC, id) AS number
        FROM (
            SELECT held.*, place FROM held JOIN word ON search @@ query
            WHERE place = ANY(%(choosing)s::int[])
              AND (SELECT count(*) FROM held WHERE every) < %(limit)s
            UNION ALL SELECT *, 0 FROM held WHERE every) asked
    ),
    matches AS (
        SELECT DISTINCT ON (id) * FROM chosen WHERE number <= %(newest_matches)s
    )
"""
# Every vector is compared: `+ 0` keeps the graph out, which would miss some.
ALL_PASSAGES = """
    passages AS (
        SELECT v.chunk_id, v.item_id, (v.vector <=> %(vector)s::halfvec) + 0 AS distance
        FROM knowledge_chunkvector v {of_items}
        WHERE v.account_id = ANY(%(accounts)s::uuid[]) AND v.model = %(model)s
          AND NOT v.item_id = ANY(%(excluded)s::uuid[]) AND %(vector)s IS NOT NULL
        ORDER BY distance, chunk_id LIMIT %(candidates)s
    )
"""
OF_ITEMS = "JOIN eligible i ON i.id = v.item_id"

# Where there are some more, the planner knows whether an index of words finds them faster.
ITEMS_AMONG_SOME = """
    eligible AS NOT MATERIALIZED (
        SELECT i.* FROM knowledge_item i
        WHERE i.account_id = ANY(%(accounts)s::uuid[]) AND {narrowed}
    ),
    held AS MATERIALIZED (
        SELECT i.id, i.account_id, i.occurred_at, i.search || '' AS search,
               i.search @@ ({every}) AS every
        FROM eligible i WHERE i.search @@ ({any_word})
    )
"""

# Each account and each word is asked for by itself and by name: so the planner knows how much
# there is.
ITEMS_AMONG_MANY = """
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
        SELECT DISTINCT ON (id) id, occurred_at, every, search || '' AS search
        FROM (SELECT * FROM all_words UNION ALL SELECT * FROM any_word) found
        ORDER BY id, every DESC
    )
"""
# Of a large account the graph answers for what it holds; what is not in it yet is compared, one by
# one, as is every vector of the other accounts. Where filters leave few items, all is compared: an
# index scan that filters throws most of what it finds away. The planner chooses wrongly between the
# two ways, so the statement decides (`+ 0` keeps the graph out). Items are looked at only where a
# filter is about them: joining them costs as much as comparing.
PASSAGES_AMONG_MANY = """
    passages AS (
        SELECT * FROM ({branches}) near ORDER BY distance, chunk_id LIMIT %(candidates)s
    )
"""
COMPARED = """
        (SELECT v.chunk_id, v.item_id, (v.vector <=> %(vector)s::halfvec) + 0 AS distance
         FROM {vectors} {which} ORDER BY distance LIMIT %(candidates)s)
"""
FROM_GRAPH = """
        (SELECT v.chunk_id, v.item_id, v.vector <=> %(vector)s::halfvec AS distance
         FROM {vectors} {unless_few} AND v.in_graph
         ORDER BY v.vector <=> %(vector)s::halfvec LIMIT %(candidates)s)
"""
FEW_ITEMS = """
    few AS MATERIALIZED (
        SELECT count(*) <= %(exact_items)s AS are_left
        FROM (SELECT FROM eligible LIMIT %(exact_items)s + 1) counted
    )
"""
IF_FEW, UNLESS_FEW = "AND (SELECT are_left FROM few)", "AND NOT (SELECT are_left FROM few)"
NOT_IN_GRAPH = "AND NOT v.in_graph"
VECTORS = """knowledge_chunkvector v {of_items}
         WHERE v.account_id = ANY(%({owners})s::uuid[]) AND v.model = %(model)s
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
LISTS = """
    holds AS MATERIALIZED (
        SELECT m.id, m.every, m.occurred_at, term, ts_rank(m.search, query, 1) AS share
        FROM matches m JOIN (
            SELECT place AS term, query FROM word
            UNION ALL
            SELECT -one.place, tsquery_phrase(one.query, next.query)
            FROM word one JOIN word next ON next.place = one.place + 1
            WHERE one.place = ANY(%(neighbours)s::int[])) terms ON m.search @@ query
    ),
    by_words AS (
        SELECT id, row_number() OVER (
            ORDER BY every DESC, sum(share * weight) DESC, occurred_at DESC, id) AS rank
        FROM (SELECT *, ln(1 + (SELECT count(*) FROM matches)
                           / count(*) OVER (PARTITION BY term)::float8) AS weight FROM holds) one
        GROUP BY id, every, occurred_at ORDER BY rank LIMIT %(candidates)s
    ),
    by_identifier AS (
        SELECT id, row_number() OVER (ORDER BY occurred_at DESC, id) AS rank
        FROM (SELECT * FROM eligible WHERE identifiers && %(identifiers)s::text[] OFFSET 0) exact
        ORDER BY rank LIMIT %(candidates)s
    ),
    by_vector AS (
        SELECT item_id, row_number() OVER (ORDER BY min(distance), item_id) AS rank,
               (array_agg(chunk_id ORDER BY distance, chunk_id))[1]
        FROM passages WHERE distance <= %(max_distance)s GROUP BY item_id
    ),
    hits AS (
        SELECT 'words' AS list, 1.0 AS weight, *, NULL::bigint AS chunk_id FROM by_words
        UNION ALL SELECT 'identifier', 1.5, *, NULL FROM by_identifier  -- before any with the words
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
NEWEST = """
        UNION ALL
        SELECT 'newest', 1.0, id, row_number() OVER (ORDER BY occurred_at DESC, id), NULL
        FROM (SELECT id, occurred_at FROM eligible
              ORDER BY occurred_at DESC, id LIMIT %(limit)s) newest
"""
COMING = """
        UNION ALL
        SELECT 'coming', 1.0, id, row_number() OVER (ORDER BY starts_at, id), NULL
        FROM (SELECT i.id, t.starts_at FROM takes_place t JOIN eligible i ON i.id = t.item_id
              ORDER BY t.starts_at, i.id LIMIT %(limit)s) coming
"""

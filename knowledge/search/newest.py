"""The SQL that finds the newest items of one account that hold words.

The planner can look at items one after the other, the newest first, or ask the index of words and
sort. It goes by how many it expects to hold the words; of the beginning of a rare word it expects
twenty times too many, and then looks at half of a large account to find what the index has at once.
So in a large account the statement decides, by how many of the newest items hold a word. Of a
common one items are looked at, up to a bound. Of one that is less common those are looked at that
the index of words and that of time both name, since when enough should hold it. Where few hold it,
or too few were found, the index of words is asked alone.
"""

SAMPLE = 800  # the newest items, of which those with a word are counted: `seen`
COMMON = 32  # of a word that is seen as often, the next few items hold enough
SCATTERED = 4  # of one that is seen as often, newer items do, as far as they are worth the search
WALKED = 10_000  # items that are looked at one after the other, at most
LARGE_WRITES = 50_000  # an account that was written so often is large

_BY_PLANNER = """
    (SELECT i.* FROM knowledge_item i
     WHERE i.account_id = {account} AND {narrowed} AND {words}
     ORDER BY i.occurred_at DESC LIMIT %(newest_matches)s)
"""
_NEWEST = """
    SELECT * FROM knowledge_item WHERE account_id = {account} AND deleted_at IS NULL
    ORDER BY occurred_at DESC
"""
# Place 0 stands for all words at once: what holds them holds those that are rare. Since `begin` as
# many should hold the word as are wanted and 60 % more, or there would be too few at times.
_SAMPLES = f"""
    sample_{{number}} AS MATERIALIZED (
        SELECT i.search FROM ({_NEWEST} LIMIT {{sample}}) i WHERE {{narrowed}}
    ),
    seen_{{number}} AS MATERIALIZED (
        SELECT *, (SELECT count(*) FROM sample_{{number}} i WHERE i.search @@ query) AS seen
        FROM (SELECT place, query FROM word UNION ALL SELECT 0, every FROM wanted) words
    ),
    asked_{{number}} AS MATERIALIZED (
        SELECT *, CASE WHEN seen >= {{scattered}} AND seen < {{common}} THEN (
                   SELECT occurred_at FROM ({_NEWEST}
                   OFFSET 1.6 * %(newest_matches)s * {{sample}} / seen LIMIT 1) i) END AS begin,
               CASE place WHEN 0 THEN (
                   SELECT string_agg(concat('(', query, ')'), ' & ')::tsquery FROM seen_{{number}}
                   WHERE place > 0 AND seen < {{scattered}}) END AS rare
        FROM seen_{{number}}
    )
"""  # noqa: S608  # constants
_BY_SAMPLE = f"""
    (WITH asked AS MATERIALIZED (SELECT * FROM asked_{{number}} WHERE {{which}}),
     near AS MATERIALIZED (
        SELECT asked.place, i.* FROM asked, LATERAL (
            SELECT i.id, i.occurred_at, i.search FROM ({_NEWEST} LIMIT {{walked}}) i
            WHERE {{narrowed}} AND i.search @@ asked.query
            ORDER BY i.occurred_at DESC LIMIT %(newest_matches)s) i
        WHERE seen >= {{common}}
        UNION ALL
        SELECT asked.place, i.* FROM asked, LATERAL (
            SELECT * FROM (
                SELECT i.id, i.occurred_at, i.search FROM knowledge_item i
                WHERE i.account_id = {{account}} AND {{narrowed}} AND i.search @@ asked.query
                  AND i.occurred_at >= asked.begin OFFSET 0) i
            ORDER BY i.occurred_at DESC LIMIT %(newest_matches)s) i
        WHERE begin IS NOT NULL
     ),
     enough AS (SELECT place FROM near GROUP BY place HAVING count(*) = %(newest_matches)s)
     SELECT id, occurred_at, search FROM near WHERE place IN (SELECT place FROM enough)
     UNION ALL
     SELECT i.* FROM asked, LATERAL (
        -- OFFSET 0 keeps the planner from looking at items by time.
        SELECT * FROM (
            SELECT i.id, i.occurred_at, i.search FROM knowledge_item i
            WHERE i.account_id = {{account}} AND {{narrowed}}
              AND i.search @@ coalesce(asked.rare, asked.query) OFFSET 0) i
        WHERE asked.place > 0 OR i.search @@ asked.query
        ORDER BY i.occurred_at DESC LIMIT %(newest_matches)s) i
     WHERE place NOT IN (SELECT place FROM enough))
"""  # noqa: S608  # constants


def render_samples(*, accounts: int, narrowed: str) -> str:
    """What `render_by_sample` needs in front of it."""
    return _render(_SAMPLES, accounts, between=",", narrowed=narrowed)


def render_by_sample(which: str, *, accounts: int, narrowed: str) -> str:
    """The same of large accounts, for each of the places `which`."""
    return _render(_BY_SAMPLE, accounts, narrowed=narrowed, which=which)


def render(words: str, *, accounts: int, narrowed: str) -> str:
    """Of each account those that are asked for: rows with at least id, occurred_at and search."""
    return _render(_BY_PLANNER, accounts, narrowed=narrowed, words=words)


def _render(template: str, accounts: int, *, between: str = " UNION ALL ", **parts: str) -> str:
    bounds = {"sample": SAMPLE, "scattered": SCATTERED, "common": COMMON, "walked": WALKED}
    return between.join(
        template.format(number=number, account=f"%(account_{number})s", **bounds, **parts)
        for number in range(accounts)
    )

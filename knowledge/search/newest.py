"""The SQL that finds the newest items of one account that hold words.

The planner can look at items one after the other, the newest first, or ask the index of words and
sort. It goes by how many it expects to hold the words; of the beginning of a rare word it expects
twenty times too many, and then looks at half of a large account to find what the index has at once.
So in a large account the statement decides. A word that some of the newest items hold is common:
items are looked at, up to a bound. Where few hold it, or too few were found, the index is asked.
"""

SAMPLE, COMMON = 400, 6  # the newest items, and how many of them hold a word that is common
WALKED = 10_000  # items that are looked at one after the other, at most
LARGE_WRITES = 50_000  # an account that was written so often is large

_BY_PLANNER = """
    (SELECT i.* FROM knowledge_item i
     WHERE i.account_id = {account} AND {narrowed} AND {words}
     ORDER BY i.occurred_at DESC LIMIT %(newest_matches)s)
"""
_SAMPLE = f"""
    sample_{{number}} AS MATERIALIZED (
        SELECT * FROM knowledge_item WHERE account_id = {{account}} AND deleted_at IS NULL
        ORDER BY occurred_at DESC LIMIT {SAMPLE}
    )
"""  # noqa: S608  # constants
_BY_SAMPLE = f"""
    (WITH walked AS MATERIALIZED (
        SELECT i.id, i.occurred_at, i.search
        FROM (SELECT * FROM knowledge_item WHERE account_id = {{account}} AND deleted_at IS NULL
              ORDER BY occurred_at DESC LIMIT {WALKED}) i
        WHERE {{narrowed}} AND {{words}} AND {COMMON} <= (
            SELECT count(*) FROM sample_{{number}} i WHERE {{narrowed}} AND {{words}})
        ORDER BY i.occurred_at DESC LIMIT %(newest_matches)s
     ),
     enough AS (SELECT count(*) = %(newest_matches)s AS found FROM walked)
     SELECT * FROM walked WHERE (SELECT found FROM enough)
     UNION ALL
     -- OFFSET 0 keeps the planner from looking at items by time.
     (SELECT * FROM (
        SELECT i.id, i.occurred_at, i.search FROM knowledge_item i
        WHERE i.account_id = {{account}} AND {{narrowed}} AND {{words}}
          AND NOT (SELECT found FROM enough) OFFSET 0) indexed
      ORDER BY occurred_at DESC LIMIT %(newest_matches)s))
"""  # noqa: S608  # constants


def render_samples(accounts: int) -> list[str]:
    """What `render` of large accounts needs in front of it."""
    return [_SAMPLE.format(number=number, account=_account(number)) for number in range(accounts)]


def render(words: str, *, accounts: int, narrowed: str, are_large: bool) -> str:
    """Of each account those that are asked for: rows with at least id, occurred_at and search."""
    template = _BY_SAMPLE if are_large else _BY_PLANNER
    return " UNION ALL ".join(
        template.format(number=number, account=_account(number), narrowed=narrowed, words=words)
        for number in range(accounts)
    )


def _account(number: int) -> str:
    return f"%(account_{number})s"

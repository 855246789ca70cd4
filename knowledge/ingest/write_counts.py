"""How often each account's items were written, and in which languages.

The sum of an account's counts is its stamp: whoever writes an item adds one in the same
transaction. So what was found under one stamp may be found again as long as it is the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from knowledge.models import Item
from knowledge.text.languages import UNKNOWN

SLOTS = 8  # of each count, or all that write side by side would wait for one row
SEARCHED_LANGUAGES = 4

_WRITTEN = """
INSERT INTO knowledge_writecount (account_id, language, slot, writes)
SELECT *, 1 FROM unnest(%s::uuid[], %s::text[], %s::smallint[])
ON CONFLICT (account_id, language, slot) DO UPDATE SET writes = knowledge_writecount.writes + 1
"""
_READ = """
SELECT account_id, language, sum(writes)::bigint
FROM knowledge_writecount WHERE account_id = ANY(%s::uuid[])
GROUP BY account_id, language
"""


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """`writes` of each account, in the order of their ids; `languages`: the most written first,
    at most four."""

    writes: tuple[tuple[str, int], ...]
    languages: tuple[str, ...]


def written(rows: Iterable[Item]) -> None:
    """Note that searches may find something else from now on.

    Call it as the last statement of the transaction that wrote these rows: what it locks, in
    one order, is shared with others, who then wait for nothing but a commit.
    """
    if found := counts(rows):
        with connection.cursor() as cursor:
            cursor.execute(_WRITTEN, [list(column) for column in zip(*found, strict=True)])


def counts(rows: Iterable[Item]) -> list[tuple[UUID, str, int]]:
    """Account, language and slot of the counts that writing these rows adds one to, in the order
    in which they are locked."""
    return sorted(
        {
            (row.account_id, language, row.id.int % SLOTS)
            for row in rows
            for language in row.languages or [UNKNOWN]
        }
    )


def read(account_ids: Sequence[UUID]) -> Stamp:
    """The stamp of these accounts together. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_READ, [list(account_ids)])
        rows = cursor.fetchall()
    by_account = dict.fromkeys(sorted(map(str, account_ids)), 0)
    by_language: dict[str, int] = {}
    for account_id, language, writes in rows:
        by_account[str(account_id)] += writes
        by_language[language] = by_language.get(language, 0) + writes
    by_language.pop(UNKNOWN, None)
    most = sorted(by_language, key=lambda language: (-by_language[language], language))
    return Stamp(writes=tuple(by_account.items()), languages=tuple(most[:SEARCHED_LANGUAGES]))

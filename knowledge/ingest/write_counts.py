"""How often each account's items were written, and in which languages.

Every write of an item adds one to its account's write count, in the same transaction. What a
search found stays true as long as the sum is the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, connections, router

from integrations.database.arrays import write_array
from knowledge.ingest.embedding_models import SEARCHED, name_searched
from knowledge.models import Item
from knowledge.text.languages import UNKNOWN

SLOTS = 8  # of each count, or all that write side by side would wait for one row
SEARCHED_LANGUAGES = 4
COUNTED_ITEMS = 2_001  # as many or more are not counted

_WRITTEN = """
INSERT INTO knowledge_writecount (account_id, language, slot, writes)
SELECT *, 1 FROM unnest(%s::uuid[], %s::text[], %s::smallint[])
ON CONFLICT (account_id, language, slot) DO UPDATE SET writes = knowledge_writecount.writes + 1
"""
# Its plan does not go by how many accounts there are: so it is made once for a connection.
_READ = f"""
WITH owner AS MATERIALIZED (SELECT id FROM unnest((SELECT %s::uuid[])) one (id))
SELECT c.account_id, c.language, c.writes, counted.items, m.name, m.is_complete
FROM (
    SELECT count(*) AS items FROM (
        SELECT FROM owner, LATERAL (
            SELECT FROM knowledge_item WHERE account_id = owner.id AND deleted_at IS NULL
            ORDER BY occurred_at DESC LIMIT {COUNTED_ITEMS}) item
        LIMIT {COUNTED_ITEMS}) items) counted
LEFT JOIN (
    SELECT account_id, language, sum(writes)::bigint AS writes
    FROM owner JOIN knowledge_writecount ON account_id = owner.id
    GROUP BY account_id, language) c ON true
LEFT JOIN ({SEARCHED}) m ON true
"""  # noqa: S608  # constants


@dataclass(frozen=True, kw_only=True)
class WriteCounts:
    """`writes` of each account, in the order of their ids; `languages`: the most written first,
    at most four. `items`: how many are there, at most COUNTED_ITEMS. `model`: whose vectors a
    search compares now (`knowledge.ingest.embedding_models`)."""

    writes: tuple[tuple[str, int], ...]
    languages: tuple[str, ...]
    items: int
    model: str

    @property
    def number(self) -> int:
        """Of the writes of all accounts together."""
        return sum(writes for _, writes in self.writes)


def count_writes(rows: Iterable[Item]) -> None:
    """Note that searches may find something else from now on.

    Call it as the last statement of the transaction that wrote these rows: what it locks, in
    one order, is shared with others, who then wait for nothing but a commit.
    """
    if found := find_counts(rows):
        with connection.cursor() as cursor:
            cursor.execute(_WRITTEN, [list(column) for column in zip(*found, strict=True)])


def find_counts(rows: Iterable[Item]) -> list[tuple[UUID, str, int]]:
    """Account, language and slot of the counts that writing these rows adds one to, in the order
    in which they are locked."""
    return sorted(
        {
            (row.account_id, language, row.id.int % SLOTS)
            for row in rows
            for language in row.languages or [UNKNOWN]
        }
    )


def load_write_counts(account_ids: Sequence[UUID]) -> WriteCounts:
    """The write counts of these accounts together. One query."""
    with connections[router.db_for_read(Item)].cursor() as cursor:
        cursor.execute(_READ, [write_array(account_ids)])
        rows = cursor.fetchall()
    by_account = dict.fromkeys(sorted(map(str, account_ids)), 0)
    by_language: dict[str, int] = {}
    for account_id, language, writes, *_ in rows:
        if account_id is None:  # nothing was written yet
            continue
        by_account[str(account_id)] += writes
        by_language[language] = by_language.get(language, 0) + writes
    by_language.pop(UNKNOWN, None)
    most = sorted(by_language, key=lambda language: (-by_language[language], language))
    return WriteCounts(
        writes=tuple(by_account.items()),
        languages=tuple(most[:SEARCHED_LANGUAGES]),
        items=rows[0][3],
        model=name_searched(*rows[0][4:]),
    )

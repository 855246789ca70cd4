"""The graph of vectors that large accounts are searched through, and how vectors come into it.

To put a vector into the graph costs more than all else that storing an item does, and the more, the
larger the graph is. So a vector is stored outside of it. An account becomes large when it has more
vectors than searches compare one by one; a task then moves its vectors into the graph, a few at a
time, and later those that it got meanwhile. Of a large account a search takes what is in the graph
from the graph and compares the rest, so it misses nothing however far the task is.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection, connections, router, transaction

from integrations.database.locks import try_lock
from knowledge.ingest import embedding_models
from knowledge.models import ChunkVector
from knowledge.search import queries

MOVED_AT_ONCE = 20  # locked for half a second where the graph is large

_LARGE = """
SELECT array_agg(account_id) FROM knowledge_largeaccount WHERE account_id = ANY(%s::uuid[])
"""
# One is counted up to the number that makes it large, by an index alone.
_MARK = """
INSERT INTO knowledge_largeaccount (account_id)
SELECT a.id FROM integrations_account a
WHERE NOT EXISTS (SELECT FROM knowledge_largeaccount large WHERE large.account_id = a.id)
  AND EXISTS (
    SELECT FROM unnest(%(models)s::text[]) model (name) CROSS JOIN LATERAL (
        SELECT FROM knowledge_chunkvector v
        WHERE v.account_id = a.id AND v.model = model.name OFFSET %(exact_vectors)s LIMIT 1) more)
FOR KEY SHARE OF a SKIP LOCKED
ON CONFLICT DO NOTHING
"""
_WAITING = """
FROM knowledge_largeaccount large CROSS JOIN unnest(%(models)s::text[]) model (name)
CROSS JOIN LATERAL (
    SELECT v.id FROM knowledge_chunkvector v
    WHERE v.account_id = large.account_id AND v.model = model.name AND NOT v.in_graph
    {some}) v
"""
_MOVE = f"""
WITH next AS MATERIALIZED (
    SELECT v.id {_WAITING.format(some="LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED")}
    LIMIT %(limit)s
)
UPDATE knowledge_chunkvector SET in_graph = true
WHERE id = ANY(ARRAY(SELECT id FROM next))
"""  # noqa: S608  # constants
_IS_BEHIND = f"SELECT EXISTS (SELECT {_WAITING.format(some='LIMIT 1')})"
_COUNT = f"SELECT count(*) {_WAITING.format(some='')}"


def divide(account_ids: Sequence[UUID]) -> dict[str, list[UUID]]:
    """These accounts as values of a statement: `large` ones, of which the graph answers for what it
    holds, and those of which all is `compared`. One query."""
    with connections[router.db_for_read(ChunkVector)].cursor() as cursor:
        cursor.execute(_LARGE, [list(account_ids)])
        [(found,)] = cursor.fetchall()
    large = set(found or ())
    return {
        "large": [id for id in account_ids if id in large],
        "compared": [id for id in account_ids if id not in large],
    }


def mark_large() -> int:
    """Note the accounts that have become large; how many. An account stays large: what it lost may
    come back, and its graph is there."""
    with connection.cursor() as cursor:
        cursor.execute(_MARK, {"models": _models(), "exact_vectors": queries.EXACT_VECTORS})
        return int(cursor.rowcount)


def move() -> int:
    """Put the next vectors of large accounts into the graph; how many. None where another process
    is at it, so any number may try."""
    with transaction.atomic():
        if not try_lock("knowledge graph"):
            return 0
        with connection.cursor() as cursor:
            cursor.execute(_MOVE, {"models": _models(), "limit": MOVED_AT_ONCE})
            return int(cursor.rowcount)


def is_behind() -> bool:
    """Whether vectors of large accounts wait for the graph."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_BEHIND, {"models": _models()})
        return bool(cursor.fetchone()[0])


def count_waiting() -> int:
    """How many vectors of large accounts wait for the graph."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"models": _models()})
        return int(cursor.fetchone()[0])


def _models() -> list[str]:
    """Those that searches go by now or next."""
    return list(embedding_models.list_written_models())

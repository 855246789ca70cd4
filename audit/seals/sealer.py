"""Seals the ledger: gives every row its place in its tenant's tree and signs the root.

One sealer at a time, held by an advisory lock; the unique place of each leaf is the fence.
Neither ids nor times follow the order in which rows become visible. Rows of transactions
below the oldest one that still runs are complete, so these are taken, in the order of their
transactions: no row is ever skipped, and none is slipped in below a sealed one.

A transaction that writes and stays open, anywhere on the server, would hold that up. After a
minute what is visible and has no leaf yet is sealed instead: the order is another then, but
nothing is left out, because such seals look back until the transaction has ended.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connections, transaction

from audit.ledger.lines import LEAF_HASH
from audit.ledger.routing import LEDGER
from audit.seals.merkle import Frontier
from audit.seals.notes import Signer, Tree
from audit.seals.signing_keys import CannotSeal, confirm

LOCK = 0x5EA1
BATCH = 20_000
LOOK_BACK = 100_000  # leaves; far more than arise while one append is under way
PATIENCE_SECONDS = 60.0

# Ordered by the column, not by its text: 99 comes before 100.
LAST = """
SELECT last.xact::text, last.row_id FROM audit_leaf AS last
ORDER BY last.xact DESC, last.row_id DESC LIMIT 1
"""
ROWS = f"""
SELECT a.tenant_id, a.id, a.action_id, a.xact::text, {LEAF_HASH}
FROM audit_action a
WHERE (a.xact, a.id) > (%s::xid8, %s) AND a.xact < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY a.xact, a.id LIMIT %s
"""  # noqa: S608  # the text is audit.ledger.lines' own
# Regardless of that order: whatever has no leaf, also among rows older than the last leaves.
UNSEALED = f"""
SELECT a.tenant_id, a.id, a.action_id, a.xact::text, {LEAF_HASH}
FROM audit_action a
WHERE a.xact >= coalesce((SELECT xact FROM audit_leaf
                          ORDER BY xact DESC, row_id DESC OFFSET %s LIMIT 1), '0')
  AND NOT EXISTS (SELECT FROM audit_leaf l WHERE l.row_id = a.id)
ORDER BY a.xact, a.id LIMIT %s
"""  # noqa: S608  # the text is audit.ledger.lines' own
# Either rows were sealed out of order and what held them up still runs, or the first row that
# waits has waited too long.
STALLED = """
SELECT %s::xid8 >= pg_snapshot_xmin(pg_current_snapshot()) OR coalesce((
    SELECT a.recorded_at < clock_timestamp() - make_interval(secs => %s)
    FROM audit_action a WHERE (a.xact, a.id) > (%s::xid8, %s) ORDER BY a.xact, a.id LIMIT 1
), false)
"""
HEADS = """
SELECT tenant_id, size, frontier
FROM unnest(%s::uuid[]) AS wanted(tenant_id) CROSS JOIN LATERAL (
    SELECT size, frontier FROM audit_checkpoint
    WHERE tenant_id = wanted.tenant_id ORDER BY size DESC LIMIT 1
) AS head
"""
LEAVES = "COPY audit_leaf (tenant_id, leaf_index, row_id, action_id, xact, hash) FROM STDIN"
CHECKPOINT = """
INSERT INTO audit_checkpoint (tenant_id, size, root, frontier, note, verifier_key)
VALUES (%s, %s, %s, %s, %s, %s)
"""


def origin(tenant_id: UUID) -> str:
    """The name of a tenant's ledger in its checkpoints."""
    return f"{settings.LEDGER_ORIGIN}/{tenant_id}"


def is_stalled() -> bool:
    """Whether an open transaction holds sealing up, for a minute or since then."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(LAST)
        last = cursor.fetchone() or ("0", 0)
        cursor.execute(STALLED, [last[0], PATIENCE_SECONDS, *last])
        return bool(cursor.fetchone()[0])


def seal(*, signer: Signer, batch: int = BATCH, out_of_order: bool = False) -> int | None:
    """Seal the rows that can be sealed now, `batch` at most, in one transaction: those whose
    order is settled or, `out_of_order`, all that are visible. Returns how many; None while
    another sealer is at work.

    Raises CannotSeal when this database's transactions are older than what is sealed, and
    when the ledger names another key than this signer's.
    """
    with transaction.atomic(using=LEDGER), connections[LEDGER].cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        if not cursor.fetchone()[0]:
            return None
        cursor.execute(LAST)
        last = cursor.fetchone() or ("0", 0)
        cursor.execute("SELECT pg_snapshot_xmax(pg_current_snapshot()) > %s::xid8", [last[0]])
        if not cursor.fetchone()[0]:
            raise CannotSeal(
                "The database counts its transactions from a lower number than the last sealed "
                f"one, {last[0]}: it was restored into a new cluster. Move its counter on with "
                "pg_resetwal (options -x and -e) before the ledger is written again."
            )
        if out_of_order:
            cursor.execute(UNSEALED, [LOOK_BACK, batch])
        else:
            cursor.execute(ROWS, [*last, batch])
        rows = cursor.fetchall()
        if rows:
            confirm(cursor, signer)
            extend(cursor, rows, signer)
    return len(rows)


def extend(cursor: Any, rows: list[Any], signer: Signer) -> None:
    rows.sort(key=lambda row: row[0].int)  # stable: within a tenant the order stays
    groups = [(tenant, list(group)) for tenant, group in groupby(rows, key=lambda row: row[0])]
    cursor.execute(HEADS, [[tenant for tenant, _ in groups]])
    heads = {tenant: Frontier(size, map(bytes, nodes)) for tenant, size, nodes in cursor.fetchall()}
    with cursor.copy(LEAVES) as copy:
        for tenant, group in groups:
            tree = heads.setdefault(tenant, Frontier())
            for _, row_id, action_id, xact, leaf in group:
                copy.write_row((tenant, tree.size, row_id, action_id, xact, leaf))
                tree.append(bytes(leaf))
    cursor.executemany(CHECKPOINT, [sign(tenant, heads[tenant], signer) for tenant, _ in groups])


def sign(tenant_id: UUID, tree: Frontier, signer: Signer) -> tuple[object, ...]:
    name, root = origin(tenant_id), tree.root()
    note = signer.sign(Tree(origin=name, size=tree.size, root=root))
    return tenant_id, tree.size, root, tree.nodes, note, signer.verifier_key(name)


def seal_all(*, signer: Signer) -> Iterator[int]:
    """Seal batch after batch until one is not full or another sealer is at work. What comes in
    meanwhile is left to the next call, or this one would not end while others write."""
    sealed: int | None = BATCH
    while sealed == BATCH:
        if sealed := seal(signer=signer):
            yield sealed

"""Inclusion proofs (RFC 6962, 2.1.1) of some rows of a tenant's tree."""

from collections.abc import Iterable, Iterator
from uuid import UUID

from django.db import connections

from audit.ledger.routing import LEDGER
from audit.seals import merkle

BLOCK = 1 << 12  # leaves; a power of two, so that a block is a subtree
LEAVES = """
SELECT string_agg(hash, '' ORDER BY leaf_index) FROM audit_leaf
WHERE tenant_id = %s AND leaf_index >= %s AND leaf_index < %s
"""


class Proofs:
    """Proofs against the tree of this size. Making it reads the hash of every leaf once, a
    block at a time; only the blocks' roots and one block are held."""

    def __init__(self, tenant_id: UUID, size: int) -> None:
        self.tenant_id = tenant_id
        self.size = size
        roots = [merkle.levels(self.leaves(start))[-1] for start in range(0, size, BLOCK)]
        self.above = merkle.levels(b"".join(roots))

    def of(self, places: Iterable[int]) -> Iterator[list[bytes]]:
        """The proof of each place. A block is read once if the places are in order."""
        held, block = -1, [b""]
        for place in places:
            number = place // BLOCK
            if number != held:
                held, block = number, merkle.levels(self.leaves(number * BLOCK))
            yield merkle.path(block, place % BLOCK) + merkle.path(self.above, number)

    def leaves(self, start: int) -> bytes:
        with connections[LEDGER].cursor() as cursor:
            cursor.execute(LEAVES, [self.tenant_id, start, min(start + BLOCK, self.size)])
            return bytes(cursor.fetchone()[0] or b"")

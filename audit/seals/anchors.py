"""Anchors: one root over the newest checkpoint of every organisation, for others to time stamp.

A leaf is the text of a checkpoint, the organisations are in the order of their ids, the tree
is that of RFC 6962. One time stamp an hour thus says of all ledgers at once that they existed;
an organisation's bundle needs its own checkpoint and a few hashes to lead there, which say
nothing about the others.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connections

from audit.ledger.routing import LEDGER
from audit.models import Anchor, AnchorToken, Checkpoint
from audit.seals.merkle import inclusion_proof, leaf_hash, tree_root

CHOSEN = 48  # in a bundle: two days of hours, or of a longer period some

# From one organisation to the next by the index, not through all checkpoints.
NEWEST = """
WITH RECURSIVE tenants AS (
    (SELECT tenant_id FROM audit_checkpoint ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT c.tenant_id FROM audit_checkpoint c WHERE c.tenant_id > t.tenant_id
            ORDER BY c.tenant_id LIMIT 1)
    FROM tenants t WHERE t.tenant_id IS NOT NULL
)
SELECT newest.id, newest.note FROM tenants t CROSS JOIN LATERAL (
    SELECT id, note FROM audit_checkpoint
    WHERE tenant_id = t.tenant_id ORDER BY size DESC LIMIT 1
) AS newest
WHERE t.tenant_id IS NOT NULL ORDER BY t.tenant_id
"""
MAKE = """
INSERT INTO audit_anchor (checkpoint_id, leaves, root) VALUES (%s, %s, %s) RETURNING id
"""
STORE = """
INSERT INTO audit_anchor_token (anchor_id, authority, response, stamped_at)
VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, kw_only=True)
class Stamped:
    """How an organisation's checkpoint leads to a root, and who time stamped that."""

    checkpoint: Checkpoint
    place: int
    size: int
    proof: tuple[bytes, ...]
    tokens: tuple[AnchorToken, ...]

    def line(self) -> dict[str, Any]:
        """As in a bundle's anchors.jsonl."""
        return {
            "note": self.checkpoint.note,
            "place": self.place,
            "size": self.size,
            "proof": [node.hex() for node in self.proof],
            "tokens": [
                {
                    "authority": token.authority,
                    "response": base64.b64encode(bytes(token.response)).decode(),
                }
                for token in self.tokens
            ],
        }


def make_anchor() -> Anchor | None:
    """Store the present root; None while nothing is sealed."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(NEWEST)
        found = cursor.fetchall()
        if not found:
            return None
        leaves = [hash_note(note) for _, note in found]
        newest = max(checkpoint_id for checkpoint_id, _ in found)
        cursor.execute(MAKE, [newest, b"".join(leaves), tree_root(leaves)])
        anchor_id = cursor.fetchone()[0]
    anchor: Anchor = Anchor.objects.get(id=anchor_id)
    return anchor


def hash_note(note: str) -> bytes:
    """Of the three lines that a checkpoint states; who signed them does not matter here."""
    return leaf_hash(f"{note.partition(chr(10) * 2)[0]}\n".encode())


def find_newest() -> Anchor | None:
    found: Anchor | None = Anchor.objects.order_by("-id").first()
    return found


def store_token(anchor_id: int, *, authority: str, response: bytes, stamped_at: datetime) -> None:
    """Store an authority's time stamp of an anchor; a second one is dropped."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(STORE, [anchor_id, authority, response, stamped_at])


def list_stamped(tenant_id: UUID, *, above: int, upto: int) -> Iterator[Stamped]:
    """Time stamped checkpoints of this organisation with more than `above` and at most `upto`
    rows: some of them, evenly spread, the last one always. The first time stamp of each counts."""
    within = Checkpoint.objects.filter(tenant_id=tenant_id, size__gt=above, size__lte=upto)
    first, last = within.order_by("size").first(), within.order_by("-size").first()
    if first is None or last is None:
        return
    after = Checkpoint.objects.filter(tenant_id=tenant_id, size__gt=last.size)
    following = after.order_by("size").first()
    anchors = Anchor.objects.filter(checkpoint_id__gte=first.id, tokens__isnull=False).distinct()
    if following:
        anchors = anchors.filter(checkpoint_id__lt=following.id)
    ids = list(anchors.order_by("id").values_list("id", flat=True))
    step = -(-len(ids) // CHOSEN) or 1
    seen = set[int]()
    for anchor in Anchor.objects.filter(id__in=ids[::-1][::step]).order_by("id"):
        stamped = find_stamped(anchor, tenant_id)
        if stamped and stamped.checkpoint.id not in seen and above < stamped.checkpoint.size:
            seen.add(stamped.checkpoint.id)
            yield stamped


def find_stamped(anchor: Anchor, tenant_id: UUID) -> Stamped | None:
    """How this organisation's checkpoint of then leads to the root; None when it had none."""
    of_tenant = Checkpoint.objects.filter(tenant_id=tenant_id, id__lte=anchor.checkpoint_id)
    checkpoint = of_tenant.order_by("-id").first()
    whole = bytes(anchor.leaves)
    leaves = [whole[start : start + 32] for start in range(0, len(whole), 32)]
    if checkpoint is None or hash_note(checkpoint.note) not in leaves:
        return None
    place = leaves.index(hash_note(checkpoint.note))
    return Stamped(
        checkpoint=checkpoint,
        place=place,
        size=len(leaves),
        proof=tuple(inclusion_proof(leaves, place)),
        tokens=tuple(AnchorToken.objects.filter(anchor_id=anchor.id).order_by("authority")),
    )

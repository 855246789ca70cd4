"""Do rows, leaves and checkpoints still fit each other? For `manage.py verify_ledger`."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connections

from audit.ledger import departures, ids
from audit.ledger.lines import LEAF_HASH
from audit.ledger.routing import LEDGER
from audit.models import (
    ActionArtifact,
    Checkpoint,
    ExecutedAgentAction,
    Leaf,
    LedgerPayload,
)
from audit.seals import notes, signing_keys
from audit.seals.merkle import Frontier

PAGE = 5000
# The place, the sealed hash, and whether the row is there and still has that hash.
LEAVES = f"""
SELECT l.leaf_index, l.row_id, l.hash, a.id IS NOT NULL, {LEAF_HASH} = l.hash
FROM audit_leaf l LEFT JOIN audit_action a
    ON a.action_id = l.action_id AND a.id = l.row_id AND a.tenant_id = l.tenant_id
WHERE l.tenant_id = %s AND l.leaf_index >= %s ORDER BY l.leaf_index LIMIT %s
"""  # noqa: S608  # the text is audit.ledger.lines' own
# Rows that stand below a sealed one and were not sealed: somebody slipped them in.
SLIPPED_IN = """
SELECT a.id FROM audit_action a
WHERE (a.xact, a.id) < (SELECT l.xact, l.row_id FROM audit_leaf l
                        ORDER BY l.xact DESC, l.row_id DESC LIMIT 1)
  AND NOT EXISTS (SELECT FROM audit_leaf l WHERE l.row_id = a.id)
  AND (%s::uuid IS NULL OR a.tenant_id = %s::uuid)
  AND (%s::uuid IS NULL OR a.action_id >= %s::uuid)
ORDER BY a.id
"""
Sentence = tuple[str, int | None]


def list_tenants() -> list[UUID]:
    """Every tenant that has a row or a part of one, a leaf or a checkpoint."""
    found: set[UUID] = set()
    for model in (ExecutedAgentAction, LedgerPayload, ActionArtifact, Leaf, Checkpoint):
        found.update(model.objects.order_by().values_list("tenant_id", flat=True).distinct())
    return sorted(found)


def find_problems(tenant_id: UUID | None, *, since: datetime | None = None) -> Iterator[Sentence]:
    """What does not fit, each with its row where it has one. None: of every tenant. With `since`
    what was sealed before is believed."""
    if strays := signing_keys.load_keys().strays:
        yield f"{strays} signing keys were named without the signature of the previous key.", None
    keys = set[bytes]()
    for one in [tenant_id] if tenant_id else list_tenants():
        yield from check_tenant(one, keys, since=since)
    first = ids.floor(since) if since else None
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(SLIPPED_IN, [tenant_id, tenant_id, first, first])
        rows = cursor.fetchall()
    for (row_id,) in rows:
        yield "It was slipped in below rows that are sealed.", row_id


def check_tenant(
    tenant_id: UUID, keys: set[bytes], *, since: datetime | None = None
) -> Iterator[Sentence]:
    """Reads page by page, so that memory stays flat; what is sealed meanwhile is looked at.
    `keys` are those known to count, to which newer ones are added."""
    newest = Checkpoint.objects.filter(tenant_id=tenant_id).order_by("-size").first()
    tree = start_tree(tenant_id, since)
    checkpoints = list_checkpoints(tenant_id, tree.size)
    expected = next(checkpoints, None)
    left = departures.find_left(tenant_id)
    while page := read_leaves(tenant_id, tree.size):
        for place, row_id, leaf, is_there, fits in page:
            if place != tree.size:
                yield f"The places {tree.size} to {place - 1} of {tenant_id} are empty.", None
                return
            if not is_there and not (left and place in left):
                yield f"The row at place {place} was sealed and is gone.", row_id
            elif is_there and not fits:
                yield "Its columns are not what was sealed.", row_id
            tree.append(bytes(leaf))
            if expected and expected.size == tree.size:
                yield from check(expected, tree, keys)
                expected = next(checkpoints, None)
    if newest and tree.size < newest.size:
        yield f"The leaves of {tenant_id} end at {tree.size}, its checkpoints later.", None
    covering = Checkpoint.objects.filter(tenant_id=tenant_id, size__gte=tree.size)
    if tree.size and not covering.exists():
        yield f"The leaves of {tenant_id} go on behind its newest checkpoint.", None


def start_tree(tenant_id: UUID, since: datetime | None) -> Frontier:
    """The tree as it was sealed before `since`; an empty one where that cannot be, so that all
    of it is looked at."""
    rows = Checkpoint.objects.filter(tenant_id=tenant_id)
    known = rows.filter(signed_at__lt=since).order_by("-size").first() if since else None
    try:
        return Frontier(known.size, map(bytes, known.frontier)) if known else Frontier()
    except ValueError:
        return Frontier()


def read_leaves(tenant_id: UUID, start: int) -> list[Any]:
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(LEAVES, [tenant_id, start, PAGE])
        return list(cursor.fetchall())


def list_checkpoints(tenant_id: UUID, size: int) -> Iterator[Checkpoint]:
    """Checkpoints above `size`, smallest first, page by page."""
    larger = Checkpoint.objects.filter(tenant_id=tenant_id).order_by("size")
    while page := list(larger.filter(size__gt=size)[:PAGE]):
        yield from page
        size = page[-1].size


def check(checkpoint: Checkpoint, tree: Frontier, keys: set[bytes]) -> Iterator[Sentence]:
    named = f"The checkpoint of {checkpoint.tenant_id} with {checkpoint.size} rows"
    if bytes(checkpoint.root) != tree.root() or list(map(bytes, checkpoint.frontier)) != tree.nodes:
        yield f"{named} does not fit the leaves.", None
    try:
        said = notes.read(checkpoint.note, verifier_key=checkpoint.verifier_key)
    except notes.NotANote as error:
        yield f"{named}: {error}", None
        return
    tenant = said.origin.rpartition("/")[2]
    if (tenant, said.size, said.root) != (str(checkpoint.tenant_id), tree.size, tree.root()):
        yield f"{named}: its note says something else.", None
    public = notes.read_key(checkpoint.verifier_key)[1]
    if public not in keys:
        keys.update(signing_keys.load_keys().publics)
    if public not in keys:
        yield f"{named} is signed by a key that the ledger does not name.", None

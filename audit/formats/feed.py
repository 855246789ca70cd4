"""The ledger as a feed: every sealed row of one tenant once, in the order of its place.

The place (`leaf_index`) is the only number without gaps: a reader who goes on where they
stopped misses nothing, gets nothing twice, and sees at once if a number were left out.
"""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_noop

from audit.formats.rows import COLUMNS, CONTENT
from audit.ledger import chain, departures, queries, selectors
from audit.models import ExecutedAgentAction, Leaf
from audit.seals.progress import find_newest_checkpoint


class AheadOfLedger(Exception):
    """No reader of this ledger ever got this place: it was set back, or it is another's.
    `template` and `values`: how it is said."""

    template = gettext_noop(
        "Place %(place)s is ahead of this ledger, of which %(size)s rows are sealed: it was set "
        "back to an older state, or the place is another ledger's. Compare leaf_hash of the rows "
        "that you have before you go on."
    )

    def __init__(self, place: int, size: int) -> None:
        self.values = {"place": place, "size": size}
        super().__init__(self.template % self.values)


@dataclass(frozen=True, kw_only=True)
class FeedPage:
    """Rows from one place on. `next_place` continues behind them; `size` is how many rows
    are sealed. Rows that are not sealed yet come later. `left` are the places of the page
    whose rows left by retention."""

    items: tuple[dict[str, Any], ...]
    left: tuple[int, ...]
    next_place: int
    size: int


def load_page(*, tenant_id: UUID, start: int, limit: int) -> FeedPage:
    """At most `limit` places from `start` on. Four queries. Raises AheadOfLedger, and KeyError
    for a row that is gone and did not leave by retention."""
    leaves = list(
        Leaf.objects.filter(tenant_id=tenant_id, leaf_index__gte=start).order_by("leaf_index")[
            :limit
        ]
    )
    rows = queries.select_with_payload().filter(id__in=[leaf.row_id for leaf in leaves])
    found = {row.id: row for row in rows.prefetch_related("artifacts")}
    last, left = find_newest_checkpoint(tenant_id), departures.find_left(tenant_id)
    size = last.size if last else 0
    if start > size:
        raise AheadOfLedger(start, size)
    gone = tuple(
        leaf.leaf_index
        for leaf in leaves
        if leaf.row_id not in found and left and leaf.leaf_index in left
    )
    return FeedPage(
        items=tuple(
            render(found[leaf.row_id])
            | {"leaf_index": leaf.leaf_index, "leaf_hash": bytes(leaf.hash).hex()}
            for leaf in leaves
            if leaf.leaf_index not in gone
        ),
        left=gone,
        next_place=leaves[-1].leaf_index + 1 if leaves else start,
        size=size,
    )


def render(row: ExecutedAgentAction) -> dict[str, Any]:
    """A row as it is exported: with its payload and salt, its commitment can be checked."""
    opened = selectors.opened(row)
    content = json.loads(opened[1]) if opened else dict.fromkeys(CONTENT)
    line = {name: getattr(row, name) for name in COLUMNS} | content
    line["salt"] = opened[0].hex() if opened else None
    plain: dict[str, Any] = chain.storable(line)
    return plain

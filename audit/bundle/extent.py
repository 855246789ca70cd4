"""Which sealed rows a bundle holds, and what it proves of them.

A bundle of a period holds every row of it, and proves that none is missing. A bundle of
other filters holds the actions that match, and proves of each row that it was sealed at its
place; that nothing else matches it cannot show, and says so.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from audit.bundle import period
from audit.contracts import Filters
from audit.ledger import selectors
from audit.models import Checkpoint, Leaf
from audit.seals.merkle import Frontier
from audit.seals.sealing import newest

Completeness = Literal["proven", "not claimed"]
PAGE = 10_000


class NothingSealed(Exception):
    """This tenant has no checkpoint yet, so there is nothing to prove."""

    def __init__(self) -> None:
        super().__init__(
            "Nothing of this organisation, or not its last erasure, is sealed yet. Start "
            "`manage.py seal_ledger` and try again in a second."
        )


@dataclass(frozen=True, kw_only=True)
class Extent:
    """The rows at `places`, under the checkpoint `end`. `first` is the tree before them where
    they follow each other without a gap. `newest` is the newest checkpoint there is."""

    filters: Filters
    places: Sequence[int]
    end: Checkpoint
    newest: Checkpoint
    completeness: Completeness
    first: Frontier = field(default_factory=Frontier)

    def facts(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {
            "completeness": self.completeness,
            "filters": self.filters.chosen(),
            "since": self.filters.since,
            "until": self.filters.until,
            "first": self.first.size,
            "size": self.end.size,
            "left": [node.hex() for node in self.first.nodes],
        }


def extent(filters: Filters, *, snapshot: str) -> Extent:
    """A period's rows were recorded in it; filters choose actions as they stood at `snapshot`,
    by when they were asked for. Raises NothingSealed."""
    last = newest(filters.tenant_id)
    if last is None:
        raise NothingSealed
    return whole(filters, last) if filters.is_period else matching(filters, last, snapshot)


def whole(filters: Filters, last: Checkpoint) -> Extent:
    end = period.ending(filters, last)
    earlier = period.beginning(filters)
    first = Frontier()
    if earlier and earlier.size < end.size:
        first = Frontier(earlier.size, map(bytes, earlier.frontier))
    return Extent(
        filters=filters,
        places=range(first.size, end.size),
        end=end,
        newest=max(last, end, key=lambda checkpoint: checkpoint.size),
        completeness="proven",
        first=first,
    )


def matching(filters: Filters, last: Checkpoint, snapshot: str) -> Extent:
    rows = selectors.every_phase(filters, snapshot=snapshot)
    leaves = Leaf.objects.filter(
        tenant_id=filters.tenant_id, leaf_index__lt=last.size, row_id__in=rows.values("id")
    )
    places = leaves.order_by("leaf_index").values_list("leaf_index", flat=True)
    return Extent(
        filters=filters,
        places=array("q", places.iterator(chunk_size=PAGE)),
        end=last,
        newest=last,
        completeness="not claimed",
    )

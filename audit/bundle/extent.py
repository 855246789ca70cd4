"""Which sealed rows a bundle holds, and what it proves of them.

A bundle of a period holds every row that was recorded in it (`since` inclusive, `until`
exclusive), and proves that none is missing: it begins and ends at checkpoints, with a row of
another time at each end. A bundle of other filters holds the actions that match, and proves of
each row that it was sealed at its place; that nothing else matches it cannot show, and says so.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from django.db import connections

from audit.contracts import Filters
from audit.ledger import departures, queries
from audit.ledger.routing import LEDGER
from audit.models import Checkpoint, ExecutedAgentAction, Leaf
from audit.seals.merkle import Frontier
from audit.seals.progress import find_newest_checkpoint

Completeness = Literal["proven", "not claimed"]
PAGE = 10_000
# Of rows that were recorded before the period's end, the place of the last one. Nothing
# sealed before then can be later, so only what follows is looked at.
LAST = """
SELECT max(l.leaf_index)
FROM audit_leaf l JOIN audit_action a ON a.action_id = l.action_id AND a.id = l.row_id
WHERE l.tenant_id = %s AND l.leaf_index >= %s AND a.recorded_at < %s
"""


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
    they follow each other without a gap. `newest` is the newest checkpoint there is. `until` is
    the end that is asked for; of a period, where a row behind it shows that none is missing."""

    filters: Filters
    places: Sequence[int]
    end: Checkpoint
    newest: Checkpoint
    completeness: Completeness
    first: Frontier = field(default_factory=Frontier)
    until: datetime | None = None

    def facts(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {
            "completeness": self.completeness,
            "filters": self.filters.chosen(),
            "since": self.filters.since,
            "until": self.until,
            "first": self.first.size,
            "size": self.end.size,
            "left": [node.hex() for node in self.first.nodes],
        }


def choose_extent(filters: Filters, *, snapshot: str) -> Extent:
    """A period's rows were recorded in it; filters choose actions as they stood at `snapshot`,
    by when they were asked for. Raises NothingSealed."""
    last = find_newest_checkpoint(filters.tenant_id)
    if last is None:
        raise NothingSealed
    return (
        choose_period(filters, last)
        if filters.is_period
        else choose_matching(filters, last, snapshot)
    )


def choose_period(filters: Filters, last: Checkpoint) -> Extent:
    end = find_end(filters, last)
    earlier = find_beginning(filters)
    first = Frontier()
    if earlier and earlier.size < end.size:
        first = Frontier(earlier.size, map(bytes, earlier.frontier))
    return Extent(
        filters=filters,
        until=filters.until if reaches(filters, end) else None,
        places=range(first.size, end.size),
        end=end,
        newest=max(last, end, key=lambda checkpoint: checkpoint.size),
        completeness="proven",
        first=first,
    )


def find_beginning(period: Filters) -> Checkpoint | None:
    """A checkpoint that ends before the period, with a row of that time behind it, which
    shows a verifier that no row of the period came earlier. None: from the first row, also
    where that row left by retention."""
    if not period.since:
        return None
    earlier = Checkpoint.objects.filter(tenant_id=period.tenant_id, signed_at__lt=period.since)
    found: Checkpoint | None = earlier.order_by("-size")[1:2].first()
    left = departures.find_left(period.tenant_id)
    return None if found and left and found.size in left else found


def find_end(period: Filters, newest: Checkpoint) -> Checkpoint:
    """The first checkpoint with a row after the period; the newest one if there is none."""
    if not period.until:
        return newest
    checkpoints = Checkpoint.objects.filter(tenant_id=period.tenant_id).order_by("size")
    within = checkpoints.filter(signed_at__lt=period.until).last()
    place = within.size if within else 0
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(LAST, [period.tenant_id, place, period.until])
        last = cursor.fetchone()[0]
    return checkpoints.filter(size__gte=(place if last is None else last + 1) + 1).first() or newest


def reaches(period: Filters, end: Checkpoint) -> bool:
    """Whether the last row was recorded after the period: only that proves that it has every row
    up to its end."""
    last = Leaf.objects.filter(tenant_id=period.tenant_id, leaf_index=end.size - 1)
    rows = ExecutedAgentAction.objects.filter(
        action_id__in=last.values("action_id"), id__in=last.values("row_id")
    )
    return rows.filter(recorded_at__gte=period.until).exists() if period.until else True


def choose_matching(filters: Filters, last: Checkpoint, snapshot: str) -> Extent:
    rows = queries.select_every_phase(filters, snapshot=snapshot)
    leaves = Leaf.objects.filter(
        tenant_id=filters.tenant_id, leaf_index__lt=last.size, row_id__in=rows.values("id")
    )
    places = leaves.order_by("leaf_index").values_list("leaf_index", flat=True)
    return Extent(
        filters=filters,
        until=filters.until,
        places=array("q", places.iterator(chunk_size=PAGE)),
        end=last,
        newest=last,
        completeness="not claimed",
    )

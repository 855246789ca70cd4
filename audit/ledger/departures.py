"""What has left of an organisation's ledger by retention, as its own rows say."""

from dataclasses import dataclass
from uuid import UUID

from audit.ledger import queries, selectors
from audit.ledger.months import Month
from audit.models import ExecutedAgentAction

RETENTION = "ledger.retention"  # the action type of these rows


@dataclass(frozen=True, kw_only=True)
class Left:
    """What has left of an organisation so far, by its newest record of it."""

    before: Month
    places: list[list[int]]
    row_id: int

    def __contains__(self, place: object) -> bool:
        return any(isinstance(place, int) and a <= place <= b for a, b in self.places)

    def reaches(self, first: int, end: int) -> bool:
        """Whether something left of the places from `first` on, below `end`."""
        return any(one < end and last >= first for one, last in self.places)

    @property
    def rows(self) -> int:
        return sum(last - first + 1 for first, last in self.places)


def find_left(tenant_id: UUID) -> Left | None:
    """None when nothing of this organisation left by retention."""
    rows = ExecutedAgentAction.objects.filter(
        tenant_id=tenant_id, action_type=RETENTION, parent_action_id__isnull=False
    )
    row = queries.join_payload(rows).order_by("-xact", "-id").first()
    content = selectors.body(row) if row else None
    if row is None or content is None:
        return None
    said = content["payload"]
    return Left(before=Month.parse(said["before"]), places=said["places"], row_id=row.id)

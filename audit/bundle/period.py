"""Where a bundle of a period begins and ends: at checkpoints, with a row of another time at
each end, which shows a verifier that no row of the period is missing.

`since` (inclusive) and `until` (exclusive) are about when rows were recorded.
"""

from django.db import connections

from audit.contracts import Filters
from audit.ledger import departures
from audit.ledger.routing import LEDGER
from audit.models import Checkpoint

# Of rows that were recorded before the period's end, the place of the last one. Nothing
# sealed before then can be later, so only what follows is looked at.
LAST = """
SELECT max(l.leaf_index)
FROM audit_leaf l JOIN audit_action a ON a.action_id = l.action_id AND a.id = l.row_id
WHERE l.tenant_id = %s AND l.leaf_index >= %s AND a.recorded_at < %s
"""


def beginning(period: Filters) -> Checkpoint | None:
    """A checkpoint that ends before the period, with a row of that time behind it, which
    shows a verifier that no row of the period came earlier. None: from the first row, also
    where that row left by retention."""
    if not period.since:
        return None
    earlier = Checkpoint.objects.filter(tenant_id=period.tenant_id, signed_at__lt=period.since)
    found: Checkpoint | None = earlier.order_by("-size")[1:2].first()
    left = departures.left(period.tenant_id)
    return None if found and left and found.size in left else found


def ending(period: Filters, newest: Checkpoint) -> Checkpoint:
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

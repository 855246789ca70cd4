"""Where a bundle of a period begins and ends: at checkpoints, with a row of another time at
each end, which shows a verifier that no row of the period is missing."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connections

from audit.models import Checkpoint
from audit.routing import LEDGER

# Of rows that were recorded before the period's end, the place of the last one. Nothing
# sealed before then can be later, so only what follows is looked at.
LAST = """
SELECT max(l.leaf_index)
FROM audit_leaf l JOIN audit_action a ON a.action_id = l.action_id AND a.id = l.row_id
WHERE l.tenant_id = %s AND l.leaf_index >= %s AND a.recorded_at < %s
"""
# Of redactions, the place of the last one; none if it is not sealed yet.
REDACTION = """
SELECT l.leaf_index FROM audit_action a
LEFT JOIN audit_leaf l ON l.row_id = a.id
WHERE a.tenant_id = %s AND a.phase = 'redaction' ORDER BY a.xact DESC, a.id DESC LIMIT 1
"""


class NothingSealed(Exception):
    """This tenant has no checkpoint yet, so there is nothing to prove."""

    def __init__(self) -> None:
        super().__init__(
            "Nothing of this organisation, or not its last erasure, is sealed yet. Start "
            "`manage.py seal_ledger` and try again in a second."
        )


@dataclass(frozen=True, kw_only=True)
class Period:
    """When rows were recorded: `since` is inclusive, `until` exclusive, None is open."""

    tenant_id: UUID
    since: datetime | None = None
    until: datetime | None = None


def beginning(period: Period) -> Checkpoint | None:
    """A checkpoint that ends before the period, with a row of that time behind it, which
    shows a verifier that no row of the period came earlier. None: from the first row."""
    if not period.since:
        return None
    earlier = Checkpoint.objects.filter(tenant_id=period.tenant_id, signed_at__lt=period.since)
    found: Checkpoint | None = earlier.order_by("-size")[1:2].first()
    return found


def ending(period: Period) -> Checkpoint:
    """The first checkpoint with a row after the period; the newest one if there is none."""
    checkpoints = Checkpoint.objects.filter(tenant_id=period.tenant_id).order_by("size")
    newest: Checkpoint | None = checkpoints.last()
    if newest is None:
        raise NothingSealed
    if not period.until:
        return newest
    within = checkpoints.filter(signed_at__lt=period.until).last()
    place = within.size if within else 0
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(LAST, [period.tenant_id, place, period.until])
        last = cursor.fetchone()[0]
    return checkpoints.filter(size__gte=(place if last is None else last + 1) + 1).first() or newest


def explained(end: Checkpoint) -> Checkpoint:
    """A checkpoint that also covers the last redaction, so that the bundle itself says why
    payloads are missing in it. Raises NothingSealed while that is not sealed."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(REDACTION, [end.tenant_id])
        found = cursor.fetchone()
    if found is None or (found[0] is not None and found[0] < end.size):
        return end
    covering = Checkpoint.objects.filter(tenant_id=end.tenant_id, size__gt=found[0] or 0)
    later: Checkpoint | None = covering.order_by("size").first() if found[0] is not None else None
    if later is None:
        raise NothingSealed
    return later

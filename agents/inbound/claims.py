"""Who works on a delivery: a claim by a conditional update, held under a lease."""

import logging
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from agents.inbound import outages
from agents.journal.leases import Heartbeat
from integrations.models import Delivery
from knowledge.ingest.reading import LARGE

log = logging.getLogger(__name__)


def claim(deliveries: QuerySet[Delivery], *, held: bool = False) -> bool:
    """Take those of these that are free; `held`: also such as wait behind others. False when there
    are none."""
    now = timezone.now()
    free = deliveries.filter(
        Q(state=Delivery.State.QUEUED) | Q(state=Delivery.State.RUNNING, lease_expires_at__lt=now)
    )
    return bool(
        (free if held else free.exclude(outages.HELD)).update(
            state=Delivery.State.RUNNING,
            lease_expires_at=_lease_end(now),
            attempts=F("attempts") + 1,
            stalls=F("stalls") + 1,
        )
    )


def _lease_end(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.TURN_LEASE_SECONDS)


def _renew(claims: Collection[tuple[UUID, int]]) -> None:
    mine = reduce(or_, (Q(id=id, attempts=attempts) for id, attempts in claims), Q(pk=None))
    rows = Delivery.objects.filter(mine, state=Delivery.State.RUNNING)
    rows.update(lease_expires_at=_lease_end(timezone.now()))


HEARTBEAT = Heartbeat(_renew)


# What `claim` does, of rows that are chosen in the same statement.
_CLAIM_QUEUED = """
UPDATE integrations_delivery SET state = 'running', lease_expires_at = %s,
    attempts = attempts + 1, stalls = stalls + 1
WHERE id = ANY (ARRAY(
    SELECT it.id FROM integrations_delivery it
    WHERE it.state = 'queued' AND it.reason = '' AND (it.size > %s) = %s
        AND NOT EXISTS (SELECT FROM integrations_outage o WHERE o.account_id = it.account_id)
    ORDER BY it.received_at LIMIT %s FOR UPDATE SKIP LOCKED
))
RETURNING id
"""


def claim_queued(most: int, *, large: bool) -> list[UUID]:
    """Take deliveries whose tasks wait in the queue, oldest first, at most so many: of the large
    ones, or of the others. One that was postponed is none of them: it is queued again when its
    wait is over."""
    if most < 1:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM_QUEUED, [_lease_end(timezone.now()), LARGE, large, most])
        return [id for (id,) in cursor.fetchall()]


def release(
    delivery: Delivery, reason: str, wait: timedelta, *, since: datetime | None = None
) -> None:
    """Give it back to the queue, to be taken up when the wait is over."""
    Delivery.objects.filter(id=delivery.id, attempts=delivery.attempts).update(
        state=Delivery.State.QUEUED,
        reason=reason,
        lease_expires_at=timezone.now() + wait,
        waiting_since=since,
        stalls=0,
    )
    log.warning("delivery.postponed", extra={"delivery": str(delivery.id), "reason": reason})

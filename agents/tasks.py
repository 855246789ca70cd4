"""What the task cluster runs. Tasks carry ids, and running one twice changes nothing."""

import logging
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django_q.tasks import async_task

from agents import reactions, turns
from guardrails import approvals, recovery

log = logging.getLogger(__name__)


def queue_delivery(delivery_id: UUID) -> None:
    """Queue the work on one delivery in the caller's transaction."""
    async_task(react, str(delivery_id))


def queue_turn(turn_id: UUID) -> None:
    """Queue one chat turn in the caller's transaction."""
    async_task(run_turn, str(turn_id))


def react(delivery_id: str) -> None:
    reactions.react(UUID(delivery_id))


def run_turn(turn_id: str) -> None:
    turns.run_turn(UUID(turn_id), stream=True)


def sweep() -> None:
    """Go on with what a dead process left: deliveries, turns, approvals, open attempts.
    Runs every minute."""
    now = timezone.now()
    deliveries = reactions.due(now=now)
    turn_ids = turns.due(now=now)
    with transaction.atomic():
        for delivery_id in deliveries:
            queue_delivery(delivery_id)
        for turn_id in turn_ids:
            queue_turn(turn_id)
    patience = settings.TURN_LEASE_SECONDS
    approvals.expire_overdue(now=now)
    approvals.finish_confirmed(older_than_seconds=patience)
    recovery.recover_open_attempts(older_than_seconds=patience, now=now)
    log.info("sweep.done", extra={"deliveries": len(deliveries), "turns": len(turn_ids)})

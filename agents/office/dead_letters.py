"""What was given up or left alone, taken up again by an operator's word."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from agents.models import Turn
from integrations.database import clock
from integrations.models import Delivery

AGAIN = Q(state=Delivery.State.DEAD) | Q(reason=Delivery.STOPPED)


def queue_again(delivery_ids: Iterable[UUID]) -> int:
    """Queue those of these deliveries that are dead letters, or were left alone while a switch was
    thrown, with all their tries again.

    A turn that failed goes on where it stood, so nothing that was done is done again.
    Returns how many were queued.
    """
    queued = 0
    for delivery_id in delivery_ids:
        with transaction.atomic():
            given_up = Delivery.objects.filter(AGAIN, id=delivery_id)
            if not given_up.queue_again(from_=clock.now()):
                continue
            Turn.objects.filter(delivery_id=delivery_id, state=Turn.State.FAILED).update(
                state=Turn.State.QUEUED, ending="", error_code="", attempts=0, finished_at=None
            )
            queued += 1
    return queued

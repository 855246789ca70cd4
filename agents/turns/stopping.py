"""A person stops a turn. What it is doing outside is never left half-way: an action that is under
way ends first, and is told; anything else ends at once, whatever a model still writes."""

import logging
from datetime import datetime
from uuid import UUID, uuid4

from django.db import transaction

from agents.context.prompts import LIMIT_SENTENCES
from agents.journal import leases
from agents.journal.leases import Lease
from agents.models import Turn
from agents.turns import turns

log = logging.getLogger(__name__)


def stop(turn_id: UUID, *, by: str, now: datetime) -> bool:
    """Have the turn end. False when it had ended already.

    Whoever works on it finds its lease gone, or, with calls under way, the wish in its row as
    soon as these have their results.
    """
    with transaction.atomic():
        turn = Turn.objects.select_for_update().filter(id=turn_id).first()
        if turn is None or turn.state not in (Turn.State.QUEUED, Turn.State.RUNNING):
            return False
        if not turn.stop_asked_at:
            turn.stop_asked_by, turn.stop_asked_at = by[:200], now
            turn.save(update_fields=["stop_asked_by", "stop_asked_at"])
        if turn.kind == Turn.Kind.CHAT and not leases.may_be_acting(turn):
            lease = Lease(turn_id=turn.id, owner=uuid4())
            Turn.objects.filter(id=turn.id).update(
                state=Turn.State.RUNNING,
                lease_owner=lease.owner,
                lease_expires_at=leases.lease_end(),
            )
            turns.finish_turn(lease, text=LIMIT_SENTENCES["stopped"], ending=Turn.Ending.STOPPED)
    log.info("turn.stop_asked", extra={"turn": str(turn_id)})
    return True

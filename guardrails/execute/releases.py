"""Carrying out held actions when their time has come, decided again under the present policy."""

import logging
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from guardrails.contracts import ActionResult
from guardrails.execute import held_sends
from guardrails.execute.executor import Confirmation, execute
from guardrails.gather import usage
from guardrails.models import HeldSend

log = logging.getLogger(__name__)
State = HeldSend.State
CLOCK = "clock"
END = {"refused": State.REFUSED, "failed": State.FAILED, "unknown": State.FAILED}


def release_due(*, now: datetime, limit: int = 100) -> int:
    """Carry out every held action whose time has come; how many those were. One that breaks
    does not keep the others waiting."""
    due = HeldSend.objects.filter(state=State.HELD, until__lte=now).order_by("until")
    return sum(_survived(held_send_id) for held_send_id in due.values_list("id", flat=True)[:limit])


def finish_released(*, older_than: datetime, limit: int = 100) -> int:
    """Go on with released actions whose process died on the way; how many were tried."""
    rows = HeldSend.objects.filter(
        state=State.RELEASED, finished_at=None, decided_at__lte=older_than
    ).order_by("decided_at")
    return sum(
        _survived(held_send_id) for held_send_id in rows.values_list("id", flat=True)[:limit]
    )


def release(held_send_id: UUID) -> ActionResult | None:
    """Carry out one held action, as far as the policy still permits it. None when it was
    recalled, has an end, or its time has not come. Running it twice changes nothing.

    While its provider is away it goes back to being held: it can be recalled, and is tried
    again until a day after its time.
    """
    now = timezone.now()
    mine = HeldSend.objects.filter(
        id=held_send_id, state=State.RELEASED, finished_at=None, decided_at=now
    )
    if not _claim(held_send_id, now):
        return None
    row = mine.select_related("account__organisation").first()
    if row is None:
        return None
    word = row.confirmation
    result = execute(
        held_sends.request_of(row),
        Confirmation.of_word(word) if word else None,
    )
    if result.reason == "outcome_unknown":
        return result  # recovery asks the provider, and this is tried again
    if result.status == "held":
        # Not when another process has taken it over: that one may be about to call.
        mine.update(state=State.HELD, decided_at=None, decided_by="", outcome=result.sentence)
        return result
    if result.status == "refused":
        usage.give_back(row.action_id)
    HeldSend.objects.filter(id=held_send_id, finished_at=None).update(
        state=END.get(result.status, State.RELEASED),
        finished_at=timezone.now(),
        outcome=result.sentence,
    )
    return result


def _claim(held_send_id: UUID, now: datetime) -> bool:
    """Marks the held send as released by this very call, also one that a dead process left."""
    rows = HeldSend.objects.filter(id=held_send_id)
    claimed = {"state": State.RELEASED, "decided_at": now, "decided_by": CLOCK}
    return bool(
        rows.filter(state=State.HELD, until__lte=now).update(**claimed)
        or rows.filter(state=State.RELEASED, finished_at=None).update(decided_at=now)
    )


def _survived(held_send_id: UUID) -> bool:
    try:
        release(held_send_id)
    except Exception:
        log.exception("guardrails.release_failed held_send=%s", held_send_id)
        return False
    return True

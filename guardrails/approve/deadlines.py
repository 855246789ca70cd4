"""What time does to approvals: it expires, escalates and finishes. It never approves."""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from guardrails.approve.approval_rows import CLOCK, State, expire, record, with_account
from guardrails.approve.delegation import escalate_row
from guardrails.approve.finishing import finish, has_ended
from guardrails.models import Approval, HeldSend

LIMIT = 200


def expire_overdue(*, now: datetime) -> int:
    """Close every approval that nobody decided in time; how many those were."""
    return sum(expire(approval_id) for approval_id in _overdue(now))


def _overdue(now: datetime) -> tuple[UUID, ...]:
    """Approvals nobody decided in time."""
    rows = Approval.objects.filter(state=State.PENDING, expires_at__lte=now)
    return tuple(rows.order_by("expires_at").values_list("id", flat=True)[:LIMIT])


def escalate_overdue(*, now: datetime) -> int:
    """Mark for operators what waits longer than APPROVAL_ESCALATE_HOURS (0: never); how many
    those were."""
    hours = settings.APPROVAL_ESCALATE_HOURS
    if not hours:
        return 0
    waiting = with_account().filter(
        state=State.PENDING, escalated_at=None, created_at__lte=now - timedelta(hours=hours)
    )
    return sum(
        escalate_row(row, by=CLOCK, reason="", now=now)
        for row in waiting.order_by("created_at")[:LIMIT]
    )


def finish_confirmed(*, older_than_seconds: float, now: datetime) -> int:
    """Go on with decided approvals whose process died on the way; how many have an end now.
    Each is decided again, and what the provider did already is not done twice."""
    before = now - timedelta(seconds=older_than_seconds)
    held = HeldSend.objects.filter(action_id=OuterRef("action_id"), state=HeldSend.State.HELD)
    unfinished = with_account().filter(~Exists(held), state=State.APPROVED, decided_at__lte=before)
    results = [finish(row, claimed=True) for row in unfinished.order_by("decided_at")[:LIMIT]]
    unrecorded = with_account().filter(
        ~Q(state__in=[State.PENDING, State.APPROVED]), in_ledger=False, decided_at__lte=before
    )
    for row in unrecorded.order_by("decided_at")[:LIMIT]:
        record(row)
    return sum(map(has_ended, results))

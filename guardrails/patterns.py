"""What people decide about learned patterns."""

from datetime import datetime
from uuid import UUID

from guardrails.models import LearnedPattern

State = LearnedPattern.State


def approve(*, pattern_id: UUID, by: str, now: datetime) -> bool:
    """A person lets a pattern act. False when it acts already or is gone."""
    return bool(
        LearnedPattern.objects.filter(id=pattern_id)
        .exclude(state=State.APPROVED)
        .update(state=State.APPROVED, approved_by=by, approved_at=now)
    )


def suspend(*, pattern_id: UUID) -> bool:
    """Stop a pattern. False when it did not act or is gone."""
    return bool(
        LearnedPattern.objects.filter(id=pattern_id, state=State.APPROVED).update(
            state=State.SUSPENDED
        )
    )


def reopen(*, pattern_id: UUID) -> bool:
    """A pattern that was changed waits for approval again. False when it did not act."""
    return bool(
        LearnedPattern.objects.filter(id=pattern_id, state=State.APPROVED).update(
            state=State.PROPOSED, approved_by="", approved_at=None
        )
    )

"""Learned patterns: which may act now, and what people decide about them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import prefetch_related_objects

from guardrails.contracts.learning import Pattern
from guardrails.learn import evidence
from guardrails.models import AllowedAction, LearnedPattern
from guardrails.models.patterns import UNUSED
from integrations.contracts import AccountRef
from integrations.database import instances
from integrations.database.together import Read

State = LearnedPattern.State
EXEMPTED = "policy:exempted"  # approves the patterns that need no person
NOT_APPROVED = {"approved_by": "", "approved_at": None, "expires_at": None}
# Of every mail: composed by Django, it took several times as long.
_APPROVED = f"""
SELECT {instances.columns(LearnedPattern)} FROM guardrails_learnedpattern
WHERE account_id = %s AND state = 'approved' AND expires_at > %s
    AND (approved_at > %s OR last_hit_at > %s)
ORDER BY created_at, id
"""  # noqa: S608  # only constants
NOT_SUSPENDED = {"suspended_at": None, "suspended_why": ""}


def approved_patterns(account: AccountRef, *, now: datetime) -> tuple[Pattern, ...]:
    """The patterns that may act now, oldest first. Two queries; one more where some act
    because an operator exempted their actions from approval."""
    return read_approved(account, now=now).run()


def read_approved(account: AccountRef, *, now: datetime) -> Read[tuple[Pattern, ...]]:
    """The same, the first query to be run with others."""
    since = now - UNUSED
    found = instances.read(LearnedPattern, _APPROVED, [account.id, now, since, since])
    return found.then(lambda rows: _permitted(account, rows))


def _permitted(account: AccountRef, found: Sequence[LearnedPattern]) -> tuple[Pattern, ...]:
    prefetch_related_objects(found, "actions")
    exempted: frozenset[str] = frozenset()
    if any(row.approved_by == EXEMPTED for row in found):
        exempted = exempted_actions(account.id)
    return tuple(
        pattern
        for row in found
        for pattern in [_pattern(row)]
        if row.approved_by != EXEMPTED or {name for name, _ in pattern.actions} <= exempted
    )


def list_untried_accounts(*, limit: int) -> list[UUID]:
    """Accounts that have such patterns. One query."""
    rows = LearnedPattern.objects.filter(tried_at=None).order_by("account_id")
    return list(rows.values_list("account_id", flat=True).distinct()[:limit])


def list_untried(account_id: UUID) -> tuple[Pattern, ...]:
    """The patterns that were not tried on past mail since they were made or changed. Two
    queries."""
    rows = LearnedPattern.objects.filter(account_id=account_id, tried_at=None)
    return tuple(map(_pattern, rows.prefetch_related("actions")))


def of_account(account: AccountRef) -> tuple[Pattern, ...]:
    """Every pattern of the account, whether it may act or not. Two queries."""
    rows = LearnedPattern.objects.filter(account_id=account.id).prefetch_related("actions")
    return tuple(map(_pattern, rows))


def _pattern(row: LearnedPattern) -> Pattern:
    return Pattern(
        id=row.id,
        name=row.name,
        sender_address=row.sender_address,
        sender_domain=row.sender_domain,
        list_id=row.list_id,
        subject=row.subject,
        content_type=row.content_type,
        actions=tuple(
            (action.action_type, action.arguments)
            for action in sorted(row.actions.all(), key=lambda action: action.order)
        ),
    )


def exempted_actions(account_id: UUID) -> frozenset[str]:
    """What patterns of this account may do before anybody approves them. One query."""
    rows = AllowedAction.objects.filter(
        account_id=account_id, enabled=True, patterns_unapproved=True
    )
    return frozenset(rows.values_list("action_type", flat=True))


def approve(*, pattern_id: UUID, by: str, now: datetime) -> bool:
    """A person lets a pattern act, or act on, for PATTERN_DAYS. False when it is gone, or
    `evidence.refuse_approval` says why not."""
    with transaction.atomic():
        found = LearnedPattern.objects.select_for_update().filter(id=pattern_id)
        row = found.first()
        if row is None or evidence.refuse_approval(row, row.evidence.all()):
            return False
        found.update(
            state=State.APPROVED,
            approved_by=by,
            approved_at=now,
            expires_at=now + timedelta(days=settings.PATTERN_DAYS),
            **NOT_SUSPENDED,
        )
    return True


def suspend(*, pattern_id: UUID, why: str, now: datetime) -> bool:
    """Stop a pattern. False when it did not act or is gone."""
    return bool(
        LearnedPattern.objects.filter(id=pattern_id, state=State.APPROVED).update(
            state=State.SUSPENDED, suspended_at=now, suspended_why=why
        )
    )


def decline(*, pattern_id: UUID, why: str, now: datetime) -> bool:
    """Leave a proposal aside: the same is not proposed again. False when none waits."""
    return bool(
        LearnedPattern.objects.filter(id=pattern_id, state=State.PROPOSED).update(
            state=State.SUSPENDED, suspended_at=now, suspended_why=why
        )
    )


def reopen(*, pattern_id: UUID) -> bool:
    """A pattern that was changed is tried on past mail again, and waits for approval again: nobody
    approved what it is now. False when it did not act."""
    found = LearnedPattern.objects.filter(id=pattern_id)
    acted = found.filter(state=State.APPROVED).update(state=State.PROPOSED, **NOT_APPROVED)
    found.update(tried_at=None, **NOT_APPROVED)
    return bool(acted)

"""Confirming in words: which waiting actions a typed message confirms. Code decides, no model.

It counts only where the policy lets these actions be confirmed in words, for what this user is
asked in this conversation and was shown before they typed. Everything else is for the buttons.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from guardrails.approve import words
from guardrails.approve.words import Meant
from guardrails.models import AllowedAction, Approval

State = Approval.State


@dataclass(frozen=True, kw_only=True)
class Listed:
    """An action as the user's last answer listed it. `waits` says that nobody has decided."""

    id: UUID
    digest: str
    action_type: str
    description: str
    arguments: dict[str, object]
    waits: bool


@dataclass(frozen=True, kw_only=True)
class Heard:
    """A confirmation in words. `confirmed` is what it confirms, bound to what was shown; where
    it is empty, `waiting` is for the buttons."""

    confirmed: tuple[Listed, ...]
    waiting: tuple[Listed, ...]


def hear(
    text: str,
    *,
    organisation_id: UUID,
    external_user_id: str,
    turn_ids: Collection[str],
    said_at: datetime,
    answered_at: datetime,
    asked: bool,
) -> Heard | None:
    """What the message confirms of what waits for this user from these turns. It was typed at
    `said_at`, and the last answer, which listed all of it, given at `answered_at`; `asked` says
    that it asked something too, so that “yes” may be about that, and only what speaks of
    confirming is a confirmation. None where the message is no confirmation, or nothing was
    listed. Two queries at most."""
    meant = words.read(text)
    if meant is None or (asked and not meant.explicit) or not turn_ids:
        return None
    rows = list(
        Approval.objects.filter(
            Q(state=State.PENDING) | Q(decided_at__gt=answered_at),
            organisation_id=organisation_id,
            external_user_id=external_user_id,
            turn_id__in=turn_ids,
            created_at__lte=answered_at,
        ).order_by("created_at", "id")
    )
    if not rows:
        return None
    waiting = tuple(_listed(row) for row in rows if row.state == State.PENDING)
    chosen = _choose(_questions(rows), meant)
    is_meant = all(row.action_type.startswith(f"{meant.verb}_") for row in chosen if meant.verb)
    if not chosen or not is_meant or not _may_be_confirmed(chosen, external_user_id, said_at):
        return Heard(confirmed=(), waiting=waiting) if waiting else None
    return Heard(confirmed=tuple(_listed(row) for row in chosen), waiting=waiting)


def _questions(rows: Iterable[Approval]) -> list[list[Approval]]:
    """Like actions are one question, and one word answers it."""
    found: dict[UUID, list[Approval]] = {}
    for row in rows:
        found.setdefault(row.question, []).append(row)
    return list(found.values())


def _choose(questions: Sequence[Sequence[Approval]], meant: Meant) -> Sequence[Approval]:
    """Those that are meant, or none where it is not clear which. A number is that of an action: of
    a card, or in the one card that lists several. “All six” counts cards or actions."""
    every = [row for question in questions for row in question]
    if meant.numbers:
        is_clear = len(questions) in (1, len(every))
        inside = is_clear and all(number <= len(every) for number in meant.numbers)
        return [every[number - 1] for number in dict.fromkeys(meant.numbers)] if inside else ()
    if meant.every:
        return every if meant.count in (None, len(questions), len(every)) else ()
    return every if len(questions) == 1 else ()


def _may_be_confirmed(rows: Sequence[Approval], external_user_id: str, said_at: datetime) -> bool:
    """Whether words count for all of them: this user is the one who decides, was shown what is
    decided before they typed, and every allowed action for it says so. One query."""
    for row in rows:
        if row.shown_at is None or row.shown_at > said_at or row.escalated_at is not None:
            return False
        if row.delegated_to not in ("", f"user:{external_user_id}"):
            return False
    pairs = {(row.account_id, row.action_type) for row in rows}
    permitted: dict[tuple[UUID, str], bool] = {}
    found = AllowedAction.objects.filter(
        account_id__in={account for account, _ in pairs},
        action_type__in={action_type for _, action_type in pairs},
        enabled=True,
    )
    for account, action_type, in_words in found.values_list(
        "account_id", "action_type", "confirm_in_words"
    ):
        permitted[account, action_type] = permitted.get((account, action_type), True) and in_words
    return all(permitted.get(pair, False) for pair in pairs)


def _listed(row: Approval) -> Listed:
    return Listed(
        id=row.id,
        digest=row.digest,
        action_type=row.action_type,
        description=row.description,
        arguments=dict(row.arguments),
        waits=row.state == State.PENDING,
    )

"""Questions as people answer them: like actions that wait together, decided by one word.

The word is bound to a digest over all of them. Each is then decided for itself: its own claim, its
own decision under the present policy, its own rows in the ledger.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from guardrails.approve import batch
from guardrails.approve.approval_rows import NOT_SHOWN, ApprovalConflict, ApprovalNotFound
from guardrails.approve.approvals import Word
from guardrails.approve.cards import list_cards
from guardrails.approve.speaking import fill
from guardrails.contracts.cards import ApprovalCard, QuestionCard
from guardrails.facts.phrases import phrase
from guardrails.models import Approval


def list_waiting_turns(*, organisation_id: UUID, external_user_id: str) -> frozenset[str]:
    """The turns of which something waits for a yes or no on this user's behalf. One query; how many
    may wait is limited."""
    rows = Approval.objects.filter(
        organisation_id=organisation_id,
        external_user_id=external_user_id,
        state=Approval.State.PENDING,
    ).exclude(turn_id="")
    return frozenset(rows.order_by().values_list("turn_id", flat=True).distinct())


def group(cards: Iterable[ApprovalCard]) -> tuple[QuestionCard, ...]:
    """Waiting cards as questions, each where its first card stood."""
    found: dict[UUID, list[ApprovalCard]] = {}
    for card in cards:
        found.setdefault(card.question, []).append(card)
    return tuple(_question(id, rows) for id, rows in found.items())


def decide(
    *,
    organisation_id: UUID,
    question_id: UUID,
    digest: str,
    word: Word,
    without: Collection[UUID] = (),
    decided_by: str,
    external_user_id: str | None = None,
    reason: str = "",
) -> tuple[batch.Answer, ...]:
    """A person's word on a whole question, bound to what was shown of it. Those `without` are
    rejected. Each answer is that of one action. Raises ApprovalNotFound, ApprovalConflict."""
    waiting = list_cards(
        organisation_id=organisation_id,
        external_user_id=external_user_id,
        questions=[question_id],
        state="pending",
    )
    if not waiting:
        raise ApprovalNotFound(phrase("There is no such question, or it was answered."))
    [question] = group(waiting)
    if question.digest != digest:
        raise ApprovalConflict(phrase(NOT_SHOWN))
    if not {*without} <= {card.id for card in waiting}:
        raise ApprovalNotFound(phrase("There is no such action in this question."))
    items = [
        batch.Item(
            approval_id=card.id,
            digest=card.digest,
            word="reject" if word == "reject" or card.id in without else "confirm",
            reason=reason,
        )
        for card in question.cards
    ]
    return batch.decide_all(
        items,
        organisation_id=organisation_id,
        decided_by=decided_by,
        external_user_id=external_user_id,
    )


def _question(id: UUID, cards: Sequence[ApprovalCard]) -> QuestionCard:
    ordered = sorted(cards, key=lambda card: (card.created_at, card.id))
    bound = "\n".join(sorted(f"{card.id} {card.digest}" for card in ordered))
    headings = "; ".join(dict.fromkeys(card.heading for card in ordered))
    number = len(ordered)
    return QuestionCard(
        id=id,
        heading=headings
        if number == 1
        else fill("%(number)s actions: %(text)s", number=number, text=headings),
        digest=hashlib.sha256(bound.encode()).hexdigest(),
        cards=tuple(ordered),
    )

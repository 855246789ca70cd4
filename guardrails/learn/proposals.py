"""Proposed patterns: rows that wait for a person. A proposal grants nothing."""

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction

from guardrails.contracts.learning import PatternProposal, Precedent, Proposed
from guardrails.learn import patterns
from guardrails.models import LearnedPattern, PatternAction, PatternEvidence
from guardrails.policies import changes
from guardrails.policies.changes import Author
from integrations.database.locks import take_lock

MAX_WAITING = 50  # proposals of one account
ENOUGH = 3  # mails that a person treated alike
BEYOND_DOUBT = 5  # of them, where nobody is to approve it
SEVERAL = 3  # runs or days that they come from: what one run caused is no habit


def propose(proposal: PatternProposal, *, author: Author, now: datetime) -> Proposed:
    """Store a proposal with its evidence, once: the same matcher is one row. It acts only if
    an operator exempted each of its actions and the evidence is beyond doubt. Raises
    audit.contracts.LedgerError; then nothing was stored."""
    row = _row(proposal)
    try:
        row.full_clean(validate_constraints=False)
    except ValidationError as error:
        return Proposed(status="invalid", sentence=" ".join(error.messages))
    with transaction.atomic():
        take_lock(f"patterns {row.account_id}")
        same = LearnedPattern.objects.filter(account_id=row.account_id, digest=row.digest).first()
        if same is not None:
            return _known(same, proposal)
        waiting = LearnedPattern.objects.filter(
            account_id=row.account_id, state=LearnedPattern.State.PROPOSED
        )
        if waiting.count() >= MAX_WAITING:
            return Proposed(status="crowded", sentence="Too many proposals are already waiting.")
        try:
            with transaction.atomic():
                _store(row, proposal)
        except ValidationError as error:
            return Proposed(status="invalid", sentence=" ".join(error.messages))
        acts = may_act_unapproved(proposal) and patterns.approve(
            pattern_id=row.id, by=patterns.EXEMPTED, now=now
        )
        row.refresh_from_db()
        changes.record_made([row], author=author)
    return Proposed(
        status="new",
        sentence="It acts from now on." if acts else "It waits for an operator to approve it.",
        pattern_id=row.id,
        acts=acts,
    )


def gather(pattern_id: UUID, precedents: Iterable[Precedent]) -> None:
    """Keep what is known by now about past mail that a pattern fits. Nothing when it is gone."""
    with transaction.atomic():
        row = LearnedPattern.objects.select_for_update().filter(id=pattern_id).first()
        if row is not None:
            keep_evidence(row, precedents)


def keep_evidence(row: LearnedPattern, precedents: Iterable[Precedent]) -> None:
    """Add what is new, and bring up to date what is known."""
    PatternEvidence.objects.bulk_create(
        [
            PatternEvidence(
                pattern=row,
                item_id=one.item_id,
                thread_id=one.thread_id,
                subject=one.subject[:500],
                occurred_at=one.occurred_at,
                side=one.side,
                by_person=one.by_person,
                sentence=one.sentence[:1000],
            )
            for one in precedents
        ],
        update_conflicts=True,
        unique_fields=["pattern", "item_id"],
        update_fields=["side", "by_person", "sentence"],
    )


def may_act_unapproved(proposal: PatternProposal) -> bool:
    """Whether an operator exempted every action, people make a habit of it, and it was not a
    mail that set the proposal off."""
    wanted = {action_type for action_type, _ in proposal.pattern.actions}
    return (
        proposal.proposed_by != "webhook"
        and is_habit(proposal.precedents, enough=BEYOND_DOUBT)
        and wanted <= patterns.exempted_actions(proposal.account.id)
    )


def is_habit(precedents: Collection[Precedent], *, enough: int = ENOUGH) -> bool:
    """Whether people treated enough mails like that, in several runs or on several days, and
    none otherwise. What the agent did unasked is no evidence for it."""
    by_person = [one for one in precedents if one.side == "supporting" and one.by_person]
    return (
        len(by_person) >= enough
        and len({one.occasion for one in by_person}) >= SEVERAL
        and all(one.side != "contradicting" for one in precedents)
    )


def _row(proposal: PatternProposal) -> LearnedPattern:
    wanted = proposal.pattern
    return LearnedPattern(
        account_id=proposal.account.id,
        name=wanted.name,
        sender_address=wanted.sender_address,
        sender_domain=wanted.sender_domain,
        list_id=wanted.list_id,
        subject=wanted.subject,
        content_type=wanted.content_type,
        reason=proposal.reason,
        proposed_by=proposal.proposed_by,
        example_id=proposal.example_id,
    )


def _store(row: LearnedPattern, proposal: PatternProposal) -> None:
    row.save(force_insert=True)
    for order, (action_type, arguments) in enumerate(proposal.pattern.actions):
        PatternAction.objects.create(
            pattern=row, order=order, action_type=action_type, arguments=dict(arguments)
        )
    keep_evidence(row, proposal.precedents)


def _known(row: LearnedPattern, proposal: PatternProposal) -> Proposed:
    actions = [(one.action_type, one.arguments) for one in row.actions.order_by("order")]
    if actions != [(name, dict(arguments)) for name, arguments in proposal.pattern.actions]:
        return Proposed(
            status="taken",
            sentence="Another pattern for the same mail does something else.",
            pattern_id=row.id,
        )
    keep_evidence(row, proposal.precedents)
    return Proposed(
        status="known",
        sentence=f"It was proposed before. Its state: {row.get_state_display().lower()}.",
        pattern_id=row.id,
        acts=row.state == LearnedPattern.State.APPROVED,
    )

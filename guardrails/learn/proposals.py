"""Proposed patterns: rows that wait for a person. A proposal grants nothing."""

from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction

from guardrails.contracts.learning import PatternProposal, Proposed, Tried
from guardrails.learn import evidence, patterns
from guardrails.models import LearnedPattern, PatternAction, PatternEvidence
from guardrails.policies import changes
from guardrails.policies.changes import Author
from integrations.database.locks import take_lock

MAX_WAITING = 50  # proposals of one account
UNTIL_THEN = (
    "Remit proposes by itself what people do again and again. An operator can write a pattern of "
    "their own at any time."
)


def propose(proposal: PatternProposal, *, author: Author, now: datetime) -> Proposed:
    """Store a proposal with its evidence, once: the same matcher is one row. Without enough
    evidence there is none. It acts only if an operator exempted each of its actions and the
    evidence is beyond doubt. Raises audit.contracts.LedgerError; then nothing was stored."""
    row = _row(proposal)
    try:
        row.full_clean(validate_constraints=False)
    except ValidationError as error:
        return Proposed(status="invalid", sentence=" ".join(error.messages))
    with transaction.atomic():
        take_lock(f"patterns {row.account_id}")
        same = LearnedPattern.objects.filter(account_id=row.account_id, digest=row.digest).first()
        if same is not None:
            return _known(same, proposal, now=now)
        if lack := evidence.find_lack(proposal.tried.precedents):
            return Proposed(status="unproven", sentence=f"{lack} {UNTIL_THEN}")
        waiting = LearnedPattern.objects.filter(
            account_id=row.account_id, state=LearnedPattern.State.PROPOSED
        )
        if waiting.count() >= MAX_WAITING:
            return Proposed(status="crowded", sentence="Too many proposals are already waiting.")
        try:
            with transaction.atomic():
                _store(row, proposal, now=now)
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


def gather(pattern_id: UUID, tried: Tried, *, now: datetime) -> None:
    """Keep what a trial on past mail found. Nothing when the pattern is gone."""
    with transaction.atomic():
        row = LearnedPattern.objects.select_for_update().filter(id=pattern_id).first()
        if row is not None:
            keep_evidence(row, tried, now=now)


def keep_evidence(row: LearnedPattern, tried: Tried, *, now: datetime) -> None:
    """In the place of what an earlier trial found."""
    LearnedPattern.objects.filter(id=row.id).update(
        tried_at=now, tried_mails=tried.mails, tried_since=tried.since
    )
    PatternEvidence.objects.filter(pattern=row).delete()
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
                seen=one.seen,
                occasion=one.occasion[:64],
                sentence=one.sentence[:1000],
            )
            for one in tried.precedents
        ],
        batch_size=1000,
    )


def may_act_unapproved(proposal: PatternProposal) -> bool:
    """Whether an operator exempted every action, people make a habit of it, and it was not a
    mail that set the proposal off."""
    wanted = {action_type for action_type, _ in proposal.pattern.actions}
    return (
        proposal.proposed_by != "webhook"
        and not evidence.find_lack(
            proposal.tried.precedents, enough=evidence.BEYOND_DOUBT, counts_seen=False
        )
        and wanted <= patterns.exempted_actions(proposal.account.id)
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


def _store(row: LearnedPattern, proposal: PatternProposal, *, now: datetime) -> None:
    row.save(force_insert=True)
    for order, (action_type, arguments) in enumerate(proposal.pattern.actions):
        PatternAction.objects.create(
            pattern=row, order=order, action_type=action_type, arguments=dict(arguments)
        )
    keep_evidence(row, proposal.tried, now=now)


def _known(row: LearnedPattern, proposal: PatternProposal, *, now: datetime) -> Proposed:
    actions = [(one.action_type, one.arguments) for one in row.actions.order_by("order")]
    if actions != [(name, dict(arguments)) for name, arguments in proposal.pattern.actions]:
        return Proposed(
            status="taken",
            sentence="Another pattern for the same mail does something else.",
            pattern_id=row.id,
        )
    keep_evidence(row, proposal.tried, now=now)
    return Proposed(
        status="known",
        sentence=f"It was proposed before. Its state: {row.get_state_display().lower()}.",
        pattern_id=row.id,
        acts=row.state == LearnedPattern.State.APPROVED,
    )

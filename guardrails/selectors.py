"""Reads of policy, skills and approvals, as values. A fixed number of queries each."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from guardrails import registry
from guardrails.cards import card
from guardrails.contracts import (
    ApprovalCard,
    Capability,
    LoadedSkill,
    PermittedTarget,
    SkillRef,
)
from guardrails.models import (
    AllowedAction,
    Approval,
    CeilingRule,
    KillSwitch,
    Skill,
)
from guardrails.policy_rows import policy_snapshots
from guardrails.snapshot import PolicySnapshot, lacks_targets
from integrations.contracts import AccountRef
from integrations.models import Account

MAX_CARDS = 200


def is_stopped(*, account_id: UUID, action_type: str) -> bool:
    """Whether a switch, a pause or the ceiling stops this action for whoever commands it. One
    query; an account that is gone is stopped."""
    thrown = KillSwitch.objects.filter(
        Q(organisation=None) | Q(organisation=OuterRef("organisation")),
        Q(account=None) | Q(account=OuterRef("id")),
        Q(source="") | Q(source=OuterRef("source")),
        action_type__in=("", action_type),
        lifted_at=None,
    )
    forbidding = CeilingRule.objects.filter(
        organisation=OuterRef("organisation"),
        action_type__in=("", action_type),
        at_most=CeilingRule.AtMost.NEVER,
    )
    return not Account.objects.filter(
        ~Exists(thrown),
        ~Exists(forbidding),
        id=account_id,
        paused=False,
        organisation__paused=False,
    ).exists()


def still_permitted(*, account_id: UUID, rule_id: str) -> bool:
    """Whether no switch stops the action, nobody has paused the account or its organisation,
    and neither the permission nor the ceiling forbids it by now. One query, asked again
    between the committed attempt and the provider write."""
    thrown = KillSwitch.objects.filter(
        Q(organisation=None) | Q(organisation=OuterRef("account__organisation")),
        Q(account=None) | Q(account=OuterRef("account")),
        Q(action_type="") | Q(action_type=OuterRef("action_type")),
        Q(source="") | Q(source=OuterRef("account__source")),
        lifted_at=None,
    )
    forbidding = CeilingRule.objects.filter(
        Q(action_type="") | Q(action_type=OuterRef("action_type")),
        organisation=OuterRef("account__organisation"),
        at_most__in=(CeilingRule.AtMost.NEVER, CeilingRule.AtMost.DRAFT_ONLY),
    )
    return (
        AllowedAction.objects.filter(
            ~Exists(thrown),
            ~Exists(forbidding),
            id=rule_id,
            account_id=account_id,
            enabled=True,
            account__paused=False,
            account__organisation__paused=False,
        )
        .filter(approval_mode__in=(AllowedAction.ApprovalMode.AUTO, AllowedAction.ApprovalMode.ASK))
        .exists()
    )


def capabilities(accounts: Sequence[AccountRef]) -> dict[UUID, tuple[Capability, ...]]:
    """What the agent may try for each account: nothing that would be refused for certain.
    One query."""
    snapshots = policy_snapshots(accounts)
    return {
        account.id: tuple(_capabilities(account, snapshots[account.id])) for account in accounts
    }


def _capabilities(account: AccountRef, policy: PolicySnapshot) -> Iterable[Capability]:
    for action in registry.ACTIONS:
        rule = policy.rule(action.name, action.resource_type)
        if action.source != account.source or policy.paused or rule is None:
            continue
        options = policy.options_for(action.name, action.resource_type, action.source)
        lacking = action.needs_option and lacks_targets(rule, action.takes, options)
        if not rule.enabled or rule.mode in ("never", "draft_only") or lacking:
            continue
        at_most = {limit.mode for limit in policy.limits(action.name)}
        if at_most & {"never", "draft_only"} or policy.switch(action.name, action.source):
            continue
        openings = (one.sentence for one in rule.openings)
        yield Capability(
            account_id=account.id,
            action_type=action.name,
            source=action.source,
            description=" ".join(
                [action.description, *(f"Not listed will do if {one}." for one in openings)]
            ),
            mode="ask" if "ask" in at_most else rule.mode,
            schema=action.arguments.model_json_schema(),
            targets=tuple(
                PermittedTarget(id=option.external_id, name=option.name, kind=option.kind)
                for option in sorted(options, key=lambda option: (option.kind, option.name))
            ),
        )


def skills(account: AccountRef) -> tuple[SkillRef, ...]:
    """The skills offered to this account, by name. One query."""
    return tuple(
        SkillRef(name=skill.name, version=skill.version, description=skill.description)
        for skill in _current_skills(account).only("name", "version", "description", "enabled")
        if skill.enabled
    )


def load_skill(account: AccountRef, name: str) -> LoadedSkill | None:
    """The newest version of a skill, and one more use of it; None when it is not offered."""
    skill = _current_skills(account).filter(name=name).first()
    used = skill is not None and Skill.objects.filter(pk=skill.pk, enabled=True).update(
        use_count=F("use_count") + 1, last_used_at=timezone.now()
    )
    if skill is None or not used:
        return None
    return LoadedSkill(name=skill.name, version=skill.version, content=skill.content)


def _current_skills(account: AccountRef) -> QuerySet[Skill]:
    """The newest version of each skill: the account's own before the organisation's."""
    return (
        Skill.objects.filter(organisation_id=account.organisation_id)
        .filter(Q(account_id=account.id) | Q(account=None), state=Skill.State.PUBLISHED)
        .order_by("name", F("account").asc(nulls_last=True), "-version")
        .distinct("name")
    )


def approval_cards(
    *,
    organisation_id: UUID,
    external_user_id: str | None = None,
    turn_ids: Iterable[str] | None = None,
    ids: Iterable[UUID] | None = None,
    state: str | None = None,
    decided: bool = False,
    before: UUID | None = None,
    limit: int = MAX_CARDS,
) -> tuple[ApprovalCard, ...]:
    """The organisation's approvals that match, newest first; a user's are those they are asked
    about or that were delegated to them. `before` continues below that approval. One query."""
    rows = Approval.objects.filter(organisation_id=organisation_id)
    if external_user_id is not None:
        rows = rows.for_user(external_user_id)
    if turn_ids is not None:
        rows = rows.filter(turn_id__in=list(turn_ids))
    if ids is not None:
        rows = rows.filter(id__in=list(ids))
    if state is not None:
        rows = rows.filter(state=state)
    if decided:
        rows = rows.exclude(state=Approval.State.PENDING)
    if before is not None:
        rows = rows.below(before)
    return tuple(card(row) for row in rows.order_by("-created_at", "-id")[:limit])


def overdue(now: datetime) -> tuple[UUID, ...]:
    """Approvals nobody decided in time."""
    rows = Approval.objects.filter(state=Approval.State.PENDING, expires_at__lte=now)
    return tuple(rows.order_by("expires_at").values_list("id", flat=True)[:MAX_CARDS])

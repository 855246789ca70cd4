"""Reads of policy, skills and approvals, as values. A fixed number of queries each."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from guardrails import conditions, registry
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
    AllowedActionOption,
    Approval,
    CeilingRule,
    KillSwitch,
    Skill,
    TargetGroup,
)
from guardrails.snapshot import Limit, Option, PolicySnapshot, Rule, Switch, lacks_targets
from integrations.contracts import AccountRef
from integrations.models import Account

MAX_CARDS = 200
OPTION_FIELDS = ("action_type", "resource_type", "source", "kind", "external_id", "name")


def policy_snapshot(account: AccountRef) -> PolicySnapshot:
    """The account's policy as it is now. Four queries, however much there is."""
    found = policy_snapshots([account])
    return found[account.id]


def policy_snapshots(accounts: Iterable[AccountRef]) -> dict[UUID, PolicySnapshot]:
    """The policies of these accounts. Four queries in all."""
    by_id = {account.id: account for account in accounts}
    rules: dict[UUID, list[Rule]] = defaultdict(list)
    options: dict[UUID, list[Option]] = defaultdict(list)
    paused = {account.id for account in by_id.values() if account.paused}
    # Unordered: the order of rows means nothing, and an ordered query would join accounts.
    permitted = AllowedAction.objects.filter(account__in=by_id).order_by()
    for row in permitted.values(
        "id",
        "account_id",
        "action_type",
        "resource_type",
        "enabled",
        "approval_mode",
        "hold_seconds",
        "conditions",
        "account__paused",
        "account__organisation__paused",
    ):
        rules[row["account_id"]].append(
            Rule(
                id=str(row["id"]),
                action_type=row["action_type"],
                resource_type=row["resource_type"],
                enabled=row["enabled"],
                mode=row["approval_mode"],  # type: ignore[arg-type]  # a check constraint holds it
                conditions=conditions.read_all(row["conditions"]),
                hold_seconds=row["hold_seconds"],
            )
        )
        if row["account__paused"] or row["account__organisation__paused"]:
            paused.add(row["account_id"])
    listed = AllowedActionOption.objects.filter(account__in=by_id).order_by()
    for account_id, key, group_id, cardinality, *rest in listed.values_list(
        "account_id", Cast("id", TextField()), "group_id", "group__cardinality", *OPTION_FIELDS
    ):
        options[account_id].append(
            Option(
                id=key,
                group_id=str(group_id or ""),
                single=cardinality == TargetGroup.Cardinality.SINGLE,
                **dict(zip(OPTION_FIELDS, rest, strict=True)),
            )
        )
    ceiling = _ceiling(by_id.values())
    switches = _switches(by_id.values())
    return {
        account.id: PolicySnapshot(
            account_id=account.id,
            paused=account.id in paused,
            rules=tuple(rules[account.id]),
            options=tuple(options[account.id]),
            ceiling=tuple(ceiling[account.organisation_id]),
            switches=tuple(
                Switch(id=str(row.id), action_type=row.action_type, source=row.source, why=row.why)
                for row in switches
                if row.organisation_id in (None, account.organisation_id)
                and row.account_id in (None, account.id)
            ),
        )
        for account in by_id.values()
    }


def _ceiling(accounts: Iterable[AccountRef]) -> dict[UUID, list[Limit]]:
    found: dict[UUID, list[Limit]] = defaultdict(list)
    organisations = {account.organisation_id for account in accounts}
    for row in CeilingRule.objects.filter(organisation__in=organisations).order_by():
        found[row.organisation_id].append(
            Limit(
                id=str(row.id),
                action_type=row.action_type,
                mode=row.at_most,  # type: ignore[arg-type]  # a check constraint holds it
                conditions=conditions.read_all(row.conditions),
                hold_seconds=row.hold_seconds,
            )
        )
    return found


def _switches(accounts: Iterable[AccountRef]) -> list[KillSwitch]:
    organisations = {account.organisation_id for account in accounts}
    reach = Q(organisation=None) | Q(organisation__in=organisations)
    return list(KillSwitch.objects.filter(reach, lifted_at=None).order_by())


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
    Four queries in all."""
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
        for skill in _current_skills(account)
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

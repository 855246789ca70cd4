"""A policy in words: what an agent may do now, and whether it may ever reach somebody. Pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from guardrails.actions import registry
from guardrails.actions.base import AnyAction
from guardrails.contracts import Verdict
from guardrails.decide import snapshot
from guardrails.decide.conditions.base import Condition, Context, Unreadable
from guardrails.decide.provenance import Relation
from guardrails.decide.snapshot import AllowedAction, Limit, ListedTarget, PolicySnapshot
from guardrails.facts import targets
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Role, Target
from guardrails.facts.text import duration, visible
from guardrails.policies.findings import impossible

ROLES: tuple[Role, ...] = ("to", "cc", "bcc")
IN_WORDS: dict[Verdict, str] = {
    "allow": "Done without asking",
    "ask": "A person is asked each time",
    "refuse": "Refused",
}
EXPOSING = "A person is asked about what the user did not name and what the agent wrote."


@dataclass(frozen=True, kw_only=True)
class Effective:
    """What becomes of one action at best, and who is strictest about it."""

    action_type: str
    title: str
    verdict: Verdict
    strictest: str
    conditions: tuple[str, ...]  # all must hold, in words
    targets: tuple[ListedTarget, ...]
    allowed_action_id: str = ""  # of the allowed action that counts
    hold_seconds: int = 0
    exposes_object: bool = False

    @property
    def sentence(self) -> str:
        only_if = f", only if {'; '.join(self.conditions)}" if self.conditions else ""
        wait = duration(self.hold_seconds)
        held = f" Held for {wait} first, where it reaches others or destroys something."
        seen = f" {EXPOSING}" if self.exposes_object and self.verdict == "allow" else ""
        return f"{IN_WORDS[self.verdict]}{only_if}.{seen}" + held * bool(self.hold_seconds)


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Whether one action may ever reach somebody or something, at best."""

    action_type: str
    title: str
    role: str
    verdict: Verdict
    sentence: str


def effective(policy: PolicySnapshot, source: str) -> tuple[Effective, ...]:
    """Every action of this source, as the policy has it now."""
    return tuple(
        _effective(policy, source, one) for one in registry.ACTIONS if one.works_on(source)
    )


def may_ever(
    policy: PolicySnapshot, source: str, value: str, *, now: datetime
) -> tuple[Reach, ...]:
    """For each action and role that could reach `value`: at best allowed, asked about or
    refused. What it refuses, no mail, no words of the user and no hour of the day permit."""
    return tuple(
        _reach(policy, source, action, target, now)
        for action in registry.ACTIONS
        if action.works_on(source)
        for target in _as_targets(action, value)
    )


def _effective(policy: PolicySnapshot, source: str, action: AnyAction) -> Effective:
    allowed_action = policy.allowed_action(action.name, action.resource_type)
    limits = policy.limits(action.name)
    listed_targets = policy.listed_targets_for(action.name, action.resource_type, source)
    verdict, strictest = _strictest(policy, source, action, allowed_action, limits, listed_targets)
    refused = verdict == "refuse" or allowed_action is None
    return Effective(
        action_type=action.name,
        title=action.title,
        verdict=verdict,
        strictest=strictest,
        conditions=() if refused else tuple(map(in_words, _conditions(allowed_action, limits))),
        targets=() if refused else tuple(sorted(listed_targets, key=_in_order)),
        allowed_action_id=allowed_action.id if allowed_action else "",
        hold_seconds=0 if refused else _waiting_seconds(allowed_action, limits),
        exposes_object=action.exposes_object,
    )


def _in_order(listed_target: ListedTarget) -> tuple[str, ...]:
    return listed_target.kind, listed_target.name.casefold(), listed_target.external_id


def _waiting_seconds(allowed_action: AllowedAction | None, limits: tuple[Limit, ...]) -> int:
    own = allowed_action.hold_seconds if allowed_action else 0
    return max(own, *(limit.hold_seconds for limit in limits), 0)


def _strictest(
    policy: PolicySnapshot,
    source: str,
    action: AnyAction,
    allowed_action: AllowedAction | None,
    limits: tuple[Limit, ...],
    listed_targets: tuple[ListedTarget, ...],
) -> tuple[Verdict, str]:
    if switch := policy.switch(action.name, source):
        return "refuse", f"A switch: “{visible(switch.why)}”."
    if policy.paused:
        return "refuse", "The account or its organisation is paused."
    if any(limit.mode == "never" for limit in limits):
        return "refuse", "The organisation's ceiling forbids it."
    if any(limit.mode == "draft_only" for limit in limits):
        return "refuse", "The organisation's ceiling permits drafts only."
    if missing := _ungranted(action, allowed_action, listed_targets):
        return "refuse", missing
    if why := impossible(_conditions(allowed_action, limits), action):
        return "refuse", why
    if any(limit.mode == "ask" for limit in limits):
        return "ask", "The organisation's ceiling asks."
    if allowed_action is not None and allowed_action.mode == "ask":
        return "ask", "The allowed action says so."
    if policy.people_needed(action.name, action.resource_type) > 1:
        return "ask", "Two people have to say yes."
    return "allow", "The allowed action says so."


def _ungranted(
    action: AnyAction,
    allowed_action: AllowedAction | None,
    listed_targets: tuple[ListedTarget, ...],
) -> str:
    """What the account's own policy lacks for this action."""
    if allowed_action is None:
        return "No operator has permitted it."
    if not allowed_action.enabled:
        return "The action is switched off."
    if allowed_action.mode == "never":
        return "The policy says never."
    if allowed_action.mode == "draft_only":
        return "The policy permits drafts only."
    if action.needs_targets and snapshot.lacks_targets(
        allowed_action, action.takes, listed_targets
    ):
        return "No target is listed."
    return ""


def _conditions(
    allowed_action: AllowedAction | None, limits: tuple[Limit, ...]
) -> tuple[Condition | Unreadable, ...]:
    found = allowed_action.conditions if allowed_action else ()
    for limit in limits:
        found += limit.conditions
    return found


def _as_targets(action: AnyAction, value: str) -> tuple[Target, ...]:
    """The value as each kind of target that the action takes."""
    plain = targets.address_or_none(value)
    found: list[Target] = []
    for kind in action.takes:
        if kind == "recipient" and plain:
            roles = [role for role in ROLES if role in action.arguments.model_fields]
            found += [Target(path=role, kind=kind, value=plain, role=role) for role in roles]
        elif kind == "assignee" and plain:
            found.append(Target(path=kind, kind=kind, value=plain))
        elif kind not in ("recipient", "recipient_domain", "assignee") and not plain:
            found.append(Target(path=kind, kind=kind, value=value))
    return tuple(found)


def _reach(
    policy: PolicySnapshot, source: str, action: AnyAction, target: Target, now: datetime
) -> Reach:
    whole = _effective(policy, source, action)
    listed_target = policy.granting(action.name, action.resource_type, source, target)
    allowed_action = policy.allowed_action(action.name, action.resource_type)
    is_open = (
        bool(allowed_action and allowed_action.openings)
        and target.is_receiver
        and target.role != "bcc"
    )
    conditions_of = allowed_action.conditions if allowed_action else ()
    if target.kind == "assignee":
        is_open = any(one.lets_member_in(named=True) for one in conditions_of)
    verdict: Verdict = whole.verdict
    sentence = f"{whole.sentence} {whole.strictest}"
    if verdict != "refuse":
        failing = _never_holds(policy, action, target, now, listed=listed_target is not None)
        must_be_listed = (action.needs_targets or not target.is_receiver) and not is_open
        if listed_target is None and must_be_listed:
            verdict, sentence = "refuse", "Refused. It is not listed."
        elif failing:
            verdict, sentence = "refuse", f"Refused. {failing}"
        elif listed_target is None and is_open and target.kind == "assignee":
            unnamed = any(one.lets_member_in(named=False) for one in conditions_of)
            whom = "; a person is asked about one whom they did not name" if unnamed else ""
            sentence = (
                f"Not listed: only a member of the project whom the user named{whom}. {sentence}"
            )
        elif listed_target is None and is_open:
            sentence = f"Not listed: it depends on its relation to the user. {whole.sentence}"
        elif listed_target is None:
            sentence = f"Only inside a thread in which it takes part. {whole.sentence}"
        elif listed_target.kind == "recipient_domain":
            sentence = (
                f"{sentence} Its domain is listed, not the address: unless the user types "
                "the address, a person is asked where it would reach others."
            )
    return Reach(
        action_type=action.name,
        title=action.title,
        role=target.role if target.is_receiver else target.kind,
        verdict=verdict,
        sentence=sentence,
    )


def _never_holds(
    policy: PolicySnapshot, action: AnyAction, target: Target, now: datetime, *, listed: bool
) -> str:
    """Why a condition about receivers fails for this one, no matter who else is written to and
    however it stands to the user."""
    possible = frozenset(get_args(Relation)) - frozenset(() if listed else ("listed",))
    context = Context(
        action=action,
        targets=(target,),
        sources={target.path: frozenset({"X"})},
        relations={target.path: possible},
        trigger="chat",
        facts=Facts(),
        now=now,
    )
    allowed_action = policy.allowed_action(action.name, action.resource_type)
    for one in (
        _conditions(allowed_action, policy.limits(action.name)) if target.is_receiver else ()
    ):
        if isinstance(one, Condition) and one.about_receivers:
            check = one.evaluate(context)
            if not check.passed:
                return check.detail
    return ""


def in_words(condition: Condition | Unreadable) -> str:
    """A condition in words, as the end of “only if …”."""
    return visible(condition.sentence)

"""The decision: may this be done, must a person be asked, or is it refused?

`decide` is a pure function of its arguments. It reads no clock, no database and no word of
the model: what the model says about itself is no evidence. The first check that fails
decides; whatever is missing, unknown or unreadable fails.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from guardrails import registry, snapshot
from guardrails.actions.base import Action, Arguments
from guardrails.conditions import Context, Unreadable
from guardrails.contracts import ActionRequest, Check, Decision
from guardrails.effects import Effect, EffectKind
from guardrails.facts import Facts
from guardrails.provenance import Provenance, trace
from guardrails.reasons import sentence
from guardrails.snapshot import Limit, Mode, Option, PolicySnapshot, Rule
from guardrails.targets import Target
from guardrails.text import visible

FROM_CONTENT = frozenset({"webhook", "pattern"})
Step = tuple[str, Check]


def needs(request: ActionRequest, policy: PolicySnapshot) -> frozenset[Any]:
    """Which facts the decision needs: those of the action and of its conditions."""
    action = registry.BY_NAME[request.action_type]
    rule = policy.rule(action.name, action.resource_type)
    conditions = rule.conditions if rule else ()
    for limit in policy.limits(action.name):
        conditions += limit.conditions
    return action.needs.union(*(condition.needs for condition in conditions))


def decide(
    *, request: ActionRequest, policy: PolicySnapshot, facts: Facts | None, now: datetime
) -> Decision:
    """Allow, ask or refuse, with every check in order.

    `facts` None means that they were not read: then the verdict is at best a refusal with
    `facts_unavailable`. `now` must know its zone.
    """
    case = _Case(request=request, policy=policy, facts=facts, now=now)
    for reason, check in _examine(case):
        case.checks.append(check)
        if not check.passed:
            return case.decision("refuse", reason, check.detail)
    asks = _reasons_to_ask(case)
    if not asks:
        return case.decision("allow", "allowed")
    if request.origin.trigger in FROM_CONTENT:
        may_ask = bool(case.receivers) and all(
            target.path in case.authenticated and target.path in case.listed
            for target in case.receivers
        )
        case.checks.append(
            Check(name="asking", passed=may_ask, detail="Asked only to answer a listed sender.")
        )
        if not may_ask:
            return case.decision("refuse", "ask_not_from_mail")
    return case.decision("ask", "needs_approval", asks[0])


@dataclass(kw_only=True)
class _Case:
    """One decision in the making."""

    request: ActionRequest
    policy: PolicySnapshot
    facts: Facts | None
    now: datetime
    checks: list[Check] = field(default_factory=list)
    limits: tuple[Limit, ...] = ()
    rule: Rule | None = None
    mode: Mode = "ask"
    effects: tuple[Effect, ...] = ()
    targets: tuple[Target, ...] = ()
    implied: tuple[Target, ...] = ()  # those of the targets that no argument names
    listed: dict[str, Option] = field(default_factory=dict)  # by path
    authenticated: frozenset[str] = frozenset()  # paths
    provenance: dict[str, Provenance] = field(default_factory=dict)
    rivals: tuple[Option, ...] = ()

    @property
    def receivers(self) -> tuple[Target, ...]:
        return tuple(target for target in self.targets if target.is_receiver)

    def has(self, *kinds: EffectKind) -> bool:
        return any(effect.kind in kinds for effect in self.effects)

    @property
    def from_content(self) -> bool:
        return self.request.origin.trigger in FROM_CONTENT

    def decision(
        self, verdict: Literal["allow", "ask", "refuse"], reason: str, detail: str = ""
    ) -> Decision:
        email = self.facts.email if self.facts else None
        at_provider = (self.facts.labels if self.facts else None) or {}
        return Decision(
            verdict=verdict,
            reason=reason,
            sentence=sentence(reason, detail),
            checks=tuple(self.checks),
            policy_digest=self.policy.digest,
            rule_id=self.rule.id if self.rule else "",
            option_ids=tuple(dict.fromkeys(option.id for option in self.listed.values())),
            target_group_id=next(
                (option.group_id for option in self.listed.values() if option.group_id), ""
            ),
            effects=self.effects,
            side_effects=(
                *(effect.sentence for effect in self.effects),
                *(
                    f"Takes off the label {visible(rival.name)}."
                    for rival in self.rivals
                    if email and rival.external_id in email.labels
                ),
            ),
            removals=tuple(
                rival.external_id for rival in self.rivals if rival.external_id in at_provider
            ),
            provenance=self.provenance,
        )


def _examine(case: _Case) -> Iterator[Step]:
    """Every check in order, each with the reason code of its failure. Whoever iterates
    stops at the first that fails."""
    request, policy, facts = case.request, case.policy, case.facts
    paused = request.account.paused or policy.paused
    switch = policy.switch(request.action_type, request.account.source)
    why = f"“{visible(switch.why)}”" if switch else ""
    yield "switched_off", Check(name="switches", passed=switch is None, detail=why)
    yield "paused", Check(name="pause", passed=not paused, detail="")
    action = registry.BY_NAME.get(request.action_type)
    if action is None or action.source != request.account.source:
        yield "unknown_action", Check(name="action", passed=False, detail="")
        return
    case.limits = policy.limits(action.name)
    forbidden = any(limit.mode not in ("auto", "ask") for limit in case.limits)
    yield "forbidden_by_ceiling", Check(name="ceiling", passed=not forbidden, detail="")
    rule = case.rule = policy.rule(action.name, action.resource_type)
    if rule is None or not rule.enabled or rule.mode not in ("auto", "ask"):
        yield "not_permitted", Check(name="permission", passed=False, detail="")
        return
    yield "not_permitted", Check(name="permission", passed=True, detail="")
    try:
        arguments = registry.parse(action, request.arguments)
    except registry.InvalidArguments as error:
        yield "invalid_arguments", Check(name="arguments", passed=False, detail=f"{error}.")
        return
    yield "invalid_arguments", Check(name="arguments", passed=True, detail="")
    if facts is None:
        yield "facts_unavailable", Check(name="facts", passed=False, detail="")
        return
    case.mode, case.targets = rule.mode, action.targets(arguments)
    yield from _object(action, arguments, facts)
    implied = action.implied(arguments, facts)
    yield "audience_unknown", Check(name="audience", passed=implied is not None, detail="")
    case.implied = implied or ()
    case.targets += case.implied
    case.effects = action.effects(arguments, facts)
    yield from _scope(case, action, facts)
    yield from _targets(case, action, facts)
    case.provenance = trace(
        registry.canonical(arguments) | {target.path: target.value for target in case.implied},
        words=request.origin.user_words,
        listed={path for path, option in case.listed.items() if option.kind != "recipient_domain"},
        authenticated=case.authenticated | _own_item(case, action),
    )
    yield from _conditions(case, rule, facts)


def _object(action: Action[Any], arguments: Arguments, facts: Facts) -> Iterator[Step]:
    """The object is there, and it is the account's own."""
    object_id = action.object_id(arguments)
    if object_id is not None:
        found = action.object_kind is not None and facts.holds(action.object_kind, object_id)
        yield "object_unknown", Check(name="object", passed=found, detail="")


def _scope(case: _Case, action: Action[Any], facts: Facts) -> Iterator[Step]:
    """What an inbound item sets off stays in its thread, and neither hides nor destroys."""
    origin = case.request.origin
    takes_part = facts.authenticated_participants
    case.authenticated = frozenset(
        target.path for target in case.receivers if target.value in takes_part
    )
    if not case.from_content:
        return
    reaches_out = case.has("egress")
    yield (
        "not_from_mail",
        Check(
            name="reach",
            passed=action.from_mail and (bool(case.receivers) or not reaches_out),
            detail="",
        ),
    )
    yield (
        "harm_not_from_mail",
        Check(name="harm", passed=not case.has("concealing", "destructive"), detail=""),
    )
    own = facts.email is not None and (
        facts.email.id == origin.item_source_id
        or bool(origin.thread_id and facts.email.thread_id == origin.thread_id)
    )
    yield "outside_own_item", Check(name="own item", passed=own, detail="")
    for target in case.receivers if reaches_out else ():
        yield (
            "receiver_not_in_thread",
            Check(
                name=f"thread {target.path}",
                passed=target.path in case.authenticated,
                detail=f"“{target.value}” ({target.path})",
            ),
        )


def _targets(case: _Case, action: Action[Any], facts: Facts) -> Iterator[Step]:
    """Every target is listed. Without options nothing is. The one exception: a draft, which
    nobody else sees, may address the participants of the thread it answers."""
    options = case.policy.options_for(action.name, action.resource_type, action.source)
    for target in case.targets:
        option = snapshot.granting(options, target)
        if option is not None:
            case.listed[target.path] = option
        in_thread = (
            not case.has("egress")
            and target.is_receiver
            and (
                target.path in case.authenticated
                if case.from_content
                else target.value in facts.participants
            )
        )
        yield (
            "target_not_listed",
            Check(
                name=f"target {target.path}",
                passed=option is not None or in_thread,
                detail=f"“{target.value}” ({target.path})",
            ),
        )
        if option is not None and target.catalogue is not None:
            names = getattr(facts, target.catalogue) or {}
            yield (
                "target_changed",
                Check(
                    name=f"provider has {target.path}",
                    passed=names.get(target.value) == option.name,
                    detail=f"“{visible(option.name)}” ({target.path})",
                ),
            )
        if option is not None:
            case.rivals += snapshot.rivals(options, option)


def _own_item(case: _Case, action: Action[Any]) -> frozenset[str]:
    """The path of the object, where it is the inbound item that set the action off."""
    own = action.object_field if case.from_content else None
    return frozenset() if own is None else frozenset({own})


def _conditions(case: _Case, rule: Rule, facts: Facts) -> Iterator[Step]:
    context = Context(
        receivers=tuple(target.value for target in case.receivers),
        trigger=case.request.origin.trigger,
        facts=facts,
        now=case.now,
    )
    for limit in case.limits:
        for condition in limit.conditions:
            yield "above_ceiling", condition.evaluate(context)
    for condition in rule.conditions:
        unknown = isinstance(condition, Unreadable)
        yield (
            "condition_unknown" if unknown else "condition_failed",
            condition.evaluate(context),
        )


def _reasons_to_ask(case: _Case) -> list[str]:
    """Why a person must be asked, in words; empty if nobody must."""
    found = []
    if case.mode == "ask":
        found.append("The permission says so.")
    if any(limit.mode == "ask" for limit in case.limits):
        found.append("The organisation's ceiling says so.")
    if case.request.origin.tighten:
        found.append("The agent wants to be sure.")
    found += [
        effect.sentence for effect in case.effects if effect.kind in ("destructive", "concealing")
    ]
    if case.has("egress"):
        found += [
            f"Nobody typed or listed “{target.value}” itself ({target.path})."
            for target in case.targets
            if case.provenance.get(target.path) == "X"
        ]
    return found

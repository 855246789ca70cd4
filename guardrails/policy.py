"""The decision: may this be done, must a person be asked, or is it refused?

`decide` is a pure function of its arguments. It reads no clock, no database and no word of
the model: what the model says about itself is no evidence. The first check that fails
decides; whatever is missing, unknown or unreadable fails. Longer checks are files of
`guardrails.checks`.
"""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import Any

from guardrails import registry
from guardrails.actions.base import Action, Arguments
from guardrails.checks.asking import may_ask, reasons_to_ask
from guardrails.checks.case import Case, Step
from guardrails.checks.listing import look_up, targets
from guardrails.checks.rates import rates
from guardrails.checks.scope import scope
from guardrails.checks.sources import relations, sources
from guardrails.checks.stopping import stopping
from guardrails.checks.undoing import COMMANDED, undoing
from guardrails.conditions import RateCondition, Unreadable
from guardrails.contracts import ActionRequest, Check, Decision, bare
from guardrails.facts import Facts
from guardrails.provenance import own_words
from guardrails.snapshot import PERMITTING, PolicySnapshot, Rule


def needs(request: ActionRequest, policy: PolicySnapshot) -> frozenset[Any]:
    """Which facts the decision needs: those of the action and of its conditions."""
    action = registry.BY_NAME[request.action_type]
    rule = policy.rule(action.name, action.resource_type)
    conditions = rule.conditions if rule else ()
    for limit in policy.limits(action.name):
        conditions += limit.conditions
    return action.needs.union(*(one.needs_for(action) for one in conditions))


def decide(
    *, request: ActionRequest, policy: PolicySnapshot, facts: Facts | None, now: datetime
) -> Decision:
    """Allow, ask or refuse, with every check in order.

    `facts` None means that they were not read: then the verdict is at best a refusal with
    `facts_unavailable`. `now` must know its zone.
    """
    words = own_words(request.origin.user_words)
    case = Case(request=request, policy=policy, facts=facts, now=now, words=words)
    is_undoing = bool(request.origin.undoes)
    steps = undoing(case) if is_undoing else chain(_examine(case), rates(case))
    for reason, check in steps:
        case.checks.append(check)
        if not check.passed:
            return case.decision("refuse", reason, check.detail)
    if is_undoing:
        return case.decision("allow", "allowed", COMMANDED)
    asks = reasons_to_ask(case)
    if not asks:
        return case.decision("allow", "allowed")
    if case.from_content:
        case.checks.append(may_ask(case))
        if not case.checks[-1].passed:
            return case.decision("refuse", "ask_not_from_mail")
    return case.decision("ask", "needs_approval", asks[0])


def _examine(case: Case) -> Iterator[Step]:
    """Every check in order, each with the reason code of its failure. Whoever iterates
    stops at the first that fails."""
    request, policy, facts = case.request, case.policy, case.facts
    yield from stopping(case)
    action = registry.BY_NAME.get(request.action_type)
    if action is None or action.only_undoes or action.source != request.account.source:
        yield "unknown_action", bare("action", False)
        return
    case.limits = policy.limits(action.name)
    modes = [limit.mode for limit in case.limits]
    yield "forbidden_by_ceiling", bare("ceiling", PERMITTING.issuperset(modes))
    rule = case.rule = policy.rule(action.name, action.resource_type)
    if rule is None or not rule.enabled or rule.mode not in PERMITTING:
        yield "not_permitted", bare("permission", False)
        return
    yield "not_permitted", bare("permission", True)
    yield "draft_only", bare("drafts", "draft_only" not in (rule.mode, *modes))
    try:
        arguments = registry.parse(action, request.arguments)
    except registry.InvalidArguments as error:
        yield "invalid_arguments", Check(name="arguments", passed=False, detail=f"{error}.")
        return
    yield "invalid_arguments", bare("arguments", True)
    if unknown := action.unclassified:
        yield "argument_unclassified", Check(name="classes", passed=False, detail=unknown)
    yield "argument_unclassified", bare("classes", True)
    case.arguments = registry.canonical(arguments)
    if facts is None:
        yield "facts_unavailable", bare("facts", False)
        return
    case.mode = rule.mode
    yield from _object(action, arguments, facts)
    implied = action.implied(arguments, facts)
    yield "audience_unknown", bare("audience", implied is not None)
    case.aim(action.targets(arguments), implied or ())
    case.take_effect(action.effects(arguments, facts))
    yield from scope(case, action, facts)
    look_up(case, action, facts)
    case.trace(sources(case, action, arguments, facts))
    case.relations = relations(case, facts)
    yield from targets(case, action, facts)
    yield from _conditions(case, rule, facts)


def _object(action: Action[Any], arguments: Arguments, facts: Facts) -> Iterator[Step]:
    """The object is there, and it is the account's own."""
    object_id = action.object_id(arguments)
    if object_id is not None:
        found = action.object_kind is not None and facts.holds(action.object_kind, object_id)
        yield "object_unknown", bare("object", found)


def _conditions(case: Case, rule: Rule, facts: Facts) -> Iterator[Step]:
    if not (case.limits or rule.conditions):
        return
    context = case.context(facts)
    for limit in case.limits:
        for condition in limit.conditions:
            if not isinstance(condition, RateCondition):
                yield "above_ceiling", condition.evaluate(context)
    for condition in rule.conditions:
        if isinstance(condition, RateCondition):
            continue
        unknown = isinstance(condition, Unreadable)
        yield (
            "condition_unknown" if unknown else "condition_failed",
            condition.evaluate(context),
        )

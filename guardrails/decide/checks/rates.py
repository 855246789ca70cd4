"""How often this was done lately leaves room for it. Pure."""

from guardrails.actions.base import AnyAction
from guardrails.decide.checks.asking import reasons_to_ask
from guardrails.decide.checks.case import Case
from guardrails.decide.conditions.base import RateCondition
from guardrails.decide.snapshot import PolicySnapshot


def rates_of(action: AnyAction, policy: PolicySnapshot) -> tuple[RateCondition, ...]:
    """The rates that an action is under: those of the ceiling, then of its allowed action."""
    allowed_action = policy.allowed_action(action.name, action.resource_type)
    found = [one for limit in policy.limits(action.name) for one in limit.conditions]
    found += allowed_action.conditions if allowed_action else ()
    return tuple(one for one in found if isinstance(one, RateCondition))


def rates(case: Case) -> None:
    """Every rate leaves room. Looked at when everything else holds."""
    if case.facts is None or not case.policy.has_rates:
        return
    context = case.context(case.facts, needs_approval=any(reasons_to_ask(case)))
    for condition in rates_of(case.action, case.policy):
        is_known = condition.counted(context) is not None
        reason = "rate_exceeded" if is_known else "counts_unavailable"
        case.require(reason, condition.evaluate(context))

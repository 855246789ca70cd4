"""Whether a person's command to take an action back may be carried out. Pure.

The agent's permission is not looked at, nor are targets and provenance: a person commands
it, and Remit itself kept what there was before. Switches, pauses and the ceiling hold for
everybody, and what was changed since is left alone.
"""

from collections.abc import Iterator

from guardrails import registry
from guardrails.checks.case import Case, Step
from guardrails.checks.stopping import stopping
from guardrails.conditions import RateCondition
from guardrails.contracts import Check
from guardrails.snapshot import PERMITTING

COMMANDED = "A person commands it, so the agent needs no permission for it."


def undoing(case: Case) -> Iterator[Step]:
    """Every check in order, each with the reason code of its failure."""
    request, facts = case.request, case.facts
    yield from stopping(case)
    action = registry.BY_NAME.get(request.action_type)
    if action is None or action.source != request.account.source:
        yield "unknown_action", Check(name="action", passed=False, detail="")
        return
    case.limits = case.policy.limits(action.name)
    forbidden = any(limit.mode not in PERMITTING for limit in case.limits)
    yield "forbidden_by_ceiling", Check(name="ceiling", passed=not forbidden, detail="")
    yield "not_permitted", Check(name="permission", passed=True, detail=COMMANDED)
    try:
        arguments = registry.parse(action, request.arguments)
    except registry.InvalidArguments as error:
        yield "invalid_arguments", Check(name="arguments", passed=False, detail=f"{error}.")
        return
    case.arguments = registry.canonical(arguments)
    if facts is None:
        yield "facts_unavailable", Check(name="facts", passed=False, detail="")
        return
    object_id = action.object_id(arguments)
    found = object_id is None or (
        action.object_kind is not None and facts.holds(action.object_kind, object_id)
    )
    yield "object_unknown", Check(name="object", passed=found, detail="")
    expected = request.origin.expects_version
    # A mail's version moves on with every label; `is_as_left` looks at what counts.
    same = expected is None or facts.version in (None, expected)
    left = action.is_as_left(arguments, facts)
    yield "changed_since_done", Check(name="unchanged", passed=same and left, detail="")
    case.aim(action.targets(arguments), action.implied(arguments, facts) or ())
    case.take_effect(action.effects(arguments, facts))
    context = case.context(facts)
    for limit in case.limits:
        for condition in limit.conditions:
            if not isinstance(condition, RateCondition):
                yield "above_ceiling", condition.evaluate(context)

"""What needs no allowed action of the agent: taking an action back, at a person's command or a
draft of Remit's own that nobody has touched; and what Remit does for itself to keep an account at
hand. Pure.

Targets and provenance are not looked at, either: a person commands it, or nobody but Remit ever had
it, and Remit itself kept what there was before. Switches, pauses and the ceiling hold for
everybody, and what was changed since is left alone.
"""

from guardrails.actions.base import Arguments, InvalidArguments
from guardrails.contracts import Check, bare
from guardrails.decide.checks.case import Case
from guardrails.decide.checks.stopping import stopping, stopping_effects
from guardrails.decide.conditions.base import RateCondition
from guardrails.decide.snapshot import PERMITTING
from guardrails.facts.facts import Facts

COMMANDED = "A person asked for it, so the agent needs no allowed action for it."
OWN = "Remit does this for itself, so the agent needs no allowed action for it."
OWN_DRAFT = "Remit wrote it and nobody has changed it, so the agent needs no allowed action for it."


def undoing(case: Case) -> str:
    """Every check in order, and why it needs no allowed action. Raises Refused at the first that
    fails."""
    request = case.request
    stopping(case)
    action = case.action
    # What nobody commands takes back a draft, and nothing else.
    why = OWN_DRAFT if action.withdraws else COMMANDED
    commanded = action.withdraws or not case.from_content
    case.require("not_permitted", bare("command", commanded))
    arguments, facts = _read(case, why=why)
    object_id = action.object_id(arguments)
    found = object_id is None or (
        action.object_kind is not None and facts.was_read(action.object_kind, object_id)
    )
    case.require("object_unknown", bare("object", found))
    expected = request.origin.expects_revision
    # A mail's revision moves on with every label; `is_as_left` looks at what counts.
    same = expected is None or facts.revision in (None, expected)
    left = action.is_as_left(arguments, facts)
    case.require("changed_since_done", bare("unchanged", same and left))
    case.aim(action.targets(arguments), action.implied(arguments, facts) or ())
    case.take_effect(action.effects(arguments, facts))
    stopping_effects(case)
    context = case.context(facts)
    for limit in case.limits:
        for condition in limit.conditions:
            if not isinstance(condition, RateCondition):
                case.require("above_ceiling", condition.evaluate(context))
    return why


def upkeep(case: Case) -> str:
    """The same of what Remit does for itself, such as asking a provider to call it: it changes no
    item and reaches nobody else. A pause does not hold what ends it."""
    request, action = case.request, case.action
    stopping(case, while_paused=action.ends_upkeep)
    case.require("not_permitted", bare("own", request.origin.trigger == "schedule"))
    _read(case, why=OWN)
    return OWN


def _read(case: Case, *, why: str) -> tuple[Arguments, Facts]:
    """The arguments of a known action that no ceiling forbids, and what is known about it."""
    request, action, facts = case.request, case.action, case.facts
    if not action.works_on(request.account.source):
        case.refuse("unknown_action", "action")
    case.limits = case.policy.limits(action.name)
    forbidden = any(limit.mode not in PERMITTING for limit in case.limits)
    case.require("forbidden_by_ceiling", bare("ceiling", not forbidden))
    case.require("not_permitted", Check(name="permission", passed=True, detail=why))
    try:
        arguments = action.parse(request.arguments)
    except InvalidArguments as error:
        case.refuse("invalid_arguments", "arguments", f"{error}.")
    case.arguments = arguments.canonical()
    if facts is None:
        case.refuse("facts_unavailable", "facts")
    return arguments, facts

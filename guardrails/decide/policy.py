"""The decision: may this be done, must a person be asked, or is it refused?

`decide` is a pure function of its arguments. It reads no clock, no database and no word of
the model: what the model says about itself is no evidence. The first check that fails
decides; whatever is missing, unknown or unreadable fails. Longer checks are files of
`guardrails.decide.checks`.
"""

from datetime import datetime
from typing import Any

from guardrails.actions.base import AnyAction, Arguments, InvalidArguments
from guardrails.contracts import ActionRequest, Decision, bare
from guardrails.decide.checks.action_type import check_action_type
from guardrails.decide.checks.asking import may_ask, reasons_to_ask
from guardrails.decide.checks.case import Case, Refused
from guardrails.decide.checks.drafting import check_contents, draft
from guardrails.decide.checks.exposing import check_roles, expose
from guardrails.decide.checks.hiding import is_meant
from guardrails.decide.checks.listing import look_up, targets
from guardrails.decide.checks.rates import rates
from guardrails.decide.checks.scope import corrected, scope, strangers
from guardrails.decide.checks.sealed import sealed
from guardrails.decide.checks.sources import relations, sources
from guardrails.decide.checks.stopping import stopping_effects
from guardrails.decide.checks.undoing import undoing, upkeep
from guardrails.decide.conditions.base import RateCondition, Unreadable
from guardrails.decide.provenance import values
from guardrails.decide.snapshot import AllowedAction, PolicySnapshot
from guardrails.facts.facts import Facts, Need
from guardrails.facts.reasons import sentence

# Whatever broke, the answer is no.
GUARD_FAILED = Decision(
    verdict="refuse",
    reason="guard_failed",
    sentence=sentence("guard_failed"),
    checks=(),
    policy_digest="",
)

EXPOSED: tuple[Need, ...] = ("content",)  # what is looked at of an object that others get to see


def needs(action: AnyAction, policy: PolicySnapshot) -> frozenset[Any]:
    """Which facts the decision needs: those of the action and of its conditions."""
    allowed_action = policy.allowed_action(action.name, action.resource_type)
    conditions = allowed_action.conditions if allowed_action else ()
    for limit in policy.limits(action.name):
        conditions += limit.conditions
    exposed = EXPOSED if action.exposes_object else ()
    # A single choice holds for the whole thread.
    chooses = action.chooses_for_thread and any(
        one.single and one.action_type == action.name for one in policy.listed_targets
    )
    thread = {"thread"} if chooses else ()
    return action.needs.union(exposed, thread, *(one.needs_for(action) for one in conditions))


def decide(
    *,
    request: ActionRequest,
    action: AnyAction | None,
    policy: PolicySnapshot,
    facts: Facts | None,
    now: datetime,
    unsealed: str = "",
) -> Decision:
    """Allow, ask or refuse, with every check in order.

    `action` is what the request names; None: there is no such action. `facts` None means that
    they were not read: then the verdict is at best a refusal with `facts_unavailable`. `now`
    must know its zone. `unsealed` says why the ledger's seals stop what cannot be taken back;
    empty: they do not.
    """
    case = Case(request=request, action=action, policy=policy, facts=facts, now=now)
    return conclude(case, unsealed=unsealed)


def conclude(case: Case, *, unsealed: str = "") -> Decision:
    """As `decide`, of a case that nobody has looked at yet. What was found stays in it."""
    try:
        if case.request.origin.undoes:
            return case.decision("allow", "allowed", undoing(case))
        if case.action.is_upkeep:
            return case.decision("allow", "allowed", upkeep(case))
        _examine(case)
        rates(case)
        why = next(reasons_to_ask(case), None)
        if why is not None and case.from_content:
            case.checks.append(may_ask(case))
            if not case.checks[-1].passed:
                raise Refused("ask_not_from_mail", "")
        sealed(case, unsealed)
    except Refused as refused:
        return case.decision("refuse", refused.reason, refused.detail)
    if why is None:
        return case.decision("allow", "allowed")
    return case.decision("ask", why.code, why.words)


def _examine(case: Case) -> None:
    """Every check in order. Raises Refused at the first that fails."""
    request, facts = case.request, case.facts
    action, allowed_action = check_action_type(case)
    try:
        arguments = case.parsed = action.parse(request.arguments)
    except InvalidArguments as error:
        case.refuse("invalid_arguments", "arguments", f"{error}.")
    case.require("invalid_arguments", bare("arguments", True))
    case.arguments = arguments.canonical()
    case.values = values(case.arguments)
    if facts is None:
        case.refuse("facts_unavailable", "facts")
    case.mode = allowed_action.mode
    _object(case, action, arguments, facts)
    implied = action.implied(arguments, facts)
    case.require("audience_unknown", bare("audience", implied is not None))
    case.aim(action.targets(arguments), implied or ())
    case.take_effect(action.effects(arguments, facts))
    stopping_effects(case)
    scope(case, action, facts)
    look_up(case, action, facts)
    case.trace(sources(case, action, arguments, facts))
    case.relations = relations(case, facts)
    case.is_meant = action.puts_away and is_meant(case)
    expose(case, action, arguments, facts)
    targets(case, action, facts)
    corrected(case, facts)
    strangers(case, facts)
    check_roles(case)
    draft(case, action, facts)
    _conditions(case, allowed_action, facts)
    check_contents(case)


def _object(case: Case, action: AnyAction, arguments: Arguments, facts: Facts) -> None:
    """The object is there, and it is the account's own."""
    object_id = action.object_id(arguments)
    if object_id is not None:
        found = action.object_kind is not None and facts.was_read(action.object_kind, object_id)
        case.require("object_unknown", bare("object", found))
    attached = action.attached(arguments)
    if attached:
        case.require("not_from_mail", bare("attached by a person", not case.from_content))
        theirs = [one for one in facts.attached if one.document and one.document.id in attached]
        case.require("object_unknown", bare("attached", len(theirs) == len({*attached})))
        case.require("not_own", bare("attached own", all(one.is_own for one in theirs)))
    expected = case.request.origin.expects_revision
    if expected is not None and facts.revision not in (None, expected):
        case.refuse("changed_meanwhile", "unchanged")
    if unfit := action.unfit(arguments, facts):
        case.refuse(unfit[0], "fit", unfit[1])


def _conditions(case: Case, allowed_action: AllowedAction, facts: Facts) -> None:
    if not (case.limits or allowed_action.conditions):
        return
    context = case.context(facts)
    for limit in case.limits:
        for condition in limit.conditions:
            if not isinstance(condition, RateCondition):
                case.require("above_ceiling", condition.evaluate(context))
    for condition in allowed_action.conditions:
        if isinstance(condition, RateCondition):
            continue
        unknown = isinstance(condition, Unreadable)
        reason = "condition_unknown" if unknown else "condition_failed"
        case.require(reason, condition.evaluate(context))

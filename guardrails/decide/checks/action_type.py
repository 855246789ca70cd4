"""What a policy says of one type of action, whatever its arguments and the facts. Pure.

It is the same for every decision under one policy, so it is found once a policy that was read.
"""

from typing import NamedTuple

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check, bare
from guardrails.decide.checks.case import Case, Refused
from guardrails.decide.checks.stopping import stopping
from guardrails.decide.conditions.base import OpeningCondition
from guardrails.decide.snapshot import PERMITTING, AllowedAction, Limit

Permitted = tuple[AnyAction, AllowedAction]


class TypeDecision(NamedTuple):
    """The checks in order and what they found. `refused`: reason and detail, if one failed."""

    checks: tuple[Check, ...]
    limits: tuple[Limit, ...]
    allowed_action: AllowedAction | None
    openings: tuple[OpeningCondition, ...] = ()
    permitted: Permitted | None = None
    refused: tuple[str, str] = ("", "")


def check_action_type(case: Case) -> Permitted:
    """Switches, pauses, the ceiling and the allowed action let this action be looked at. Raises
    Refused."""
    account, known = case.request.account, case.policy.type_decisions
    asked = case.request.action_type, account.source, account.paused
    found: TypeDecision | None = known.get(asked)
    if found is None:
        found = known[asked] = _check(case)
    case.checks += found.checks
    case.limits, case.allowed_action, case.openings = (
        found.limits,
        found.allowed_action,
        found.openings,
    )
    if found.permitted is None:
        raise Refused(*found.refused)
    return found.permitted


def _check(asked: Case) -> TypeDecision:
    case = Case(
        request=asked.request,
        action=asked.known,
        policy=asked.policy,
        facts=None,
        now=asked.now,
    )
    permitted, refused = None, ("", "")
    try:
        permitted = _permitted(case)
    except Refused as why:
        refused = why.reason, why.detail
    return TypeDecision(
        checks=tuple(case.checks),
        limits=case.limits,
        allowed_action=case.allowed_action,
        openings=case.allowed_action.openings if case.allowed_action else (),
        permitted=permitted,
        refused=refused,
    )


def _permitted(case: Case) -> Permitted:
    request, policy = case.request, case.policy
    stopping(case)
    action = case.action
    if action.only_undoes or not action.works_on(request.account.source):
        case.refuse("unknown_action", "action")
    case.limits = policy.limits(action.name)
    modes = [limit.mode for limit in case.limits]
    case.require("forbidden_by_ceiling", bare("ceiling", PERMITTING.issuperset(modes)))
    allowed_action = case.allowed_action = policy.allowed_action(action.name, action.resource_type)
    if (
        allowed_action is None
        or not allowed_action.enabled
        or allowed_action.mode not in PERMITTING
    ):
        case.refuse("not_permitted", "permission")
    case.require("not_permitted", bare("permission", True))
    case.require("draft_only", bare("drafts", "draft_only" not in (allowed_action.mode, *modes)))
    if unknown := action.unclassified:
        case.refuse("argument_unclassified", "classes", unknown)
    case.require("argument_unclassified", bare("classes", True))
    return action, allowed_action

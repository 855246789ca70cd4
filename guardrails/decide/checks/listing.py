"""Whom and what the action reaches must be listed by an operator, or let in by them. Pure."""

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide import snapshot
from guardrails.decide.checks.case import Case
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Target
from guardrails.facts.text import visible


def look_up(case: Case, action: AnyAction, facts: Facts) -> None:
    """Which targets are listed, and which receivers of a draft that nobody else sees are in
    the thread it answers."""
    listed = {}
    for target in case.targets:
        source = case.request.account.source
        option = case.policy.granting(action.name, action.resource_type, source, target)
        if option is not None:
            listed[target.path] = option
    case.listed = listed
    if case.receivers and not case.has("egress"):
        case.in_thread = frozenset(
            target.path
            for target in case.receivers
            if (
                target.path in case.authenticated
                if case.from_content
                else target.value in facts.participants
            )
        )


def targets(case: Case, action: AnyAction, facts: Facts) -> None:
    """Every target is listed. Without options nothing is. Two exceptions: a draft that nobody
    else sees may address the participants of the thread it answers, and a permission may let
    receivers in by how they stand to the user."""
    for target in case.targets:
        path = target.path
        option = case.listed.get(path)
        if option is None and _is_let_in(case, target):
            case.opened |= {path}
        novel = bool(case.openings) and case.relations.get(path) == frozenset()
        case.require(
            "receiver_novel" if novel else "target_not_listed",
            Check(
                name=f"target {path}",
                passed=option is not None or path in case.in_thread or path in case.opened,
                detail=f"“{target.value}” ({path})",
            ),
        )
        if option is None:
            continue
        if target.catalogue is not None:
            names = getattr(facts, target.catalogue) or {}
            case.require(
                "target_changed",
                Check(
                    name=f"provider has {path}",
                    passed=names.get(target.value) == option.name,
                    detail=f"“{visible(option.name)}” ({path})",
                ),
            )
        if option.single:
            source = case.request.account.source
            options = case.policy.options_for(action.name, action.resource_type, source)
            case.rivals += snapshot.rivals(options, option)


def _is_let_in(case: Case, target: Target) -> bool:
    """Whether the permission (not the ceiling) reaches this receiver without listing it. A
    blind copy never is."""
    if not target.is_receiver or target.role == "bcc" or not case.openings:
        return False
    return all(one.admits(case.relations[target.path]) for one in case.openings)

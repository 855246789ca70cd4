"""Whom and what the action reaches must be listed by an operator, or let in by them. Pure."""

from guardrails.actions.base import AnyAction
from guardrails.contracts import Ambiguity, Check
from guardrails.decide import snapshot
from guardrails.decide.checks.case import Case
from guardrails.decide.provenance import SPOKEN, Relation
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Target
from guardrails.facts.text import visible

COLLEAGUE: frozenset[Relation] = frozenset({"directory"})


def look_up(case: Case, action: AnyAction, facts: Facts) -> None:
    """Which targets are listed, and which receivers of a draft that nobody else sees are in
    the thread it answers."""
    listed = {}
    for target in case.targets:
        source = case.request.account.source
        listed_target = case.policy.granting(action.name, action.resource_type, source, target)
        if listed_target is not None:
            listed[target.path] = listed_target
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
    """Every target is listed. Without targets nothing is. Two exceptions: a draft that nobody
    else sees may address the participants of the thread it answers, and an allowed action may let
    people in by how they stand to the user or to the issue's project."""
    for target in case.targets:
        path = target.path
        listed_target = case.listed.get(path)
        if listed_target is None and _is_let_in(case, target):
            case.opened |= {path}
        passed = listed_target is not None or path in case.in_thread or path in case.opened
        unclear = case.unclear_name(path)
        novel = bool(case.openings) and _is_novel(case, target)
        reason = "receiver_novel" if novel else "target_not_listed"
        if unclear and not passed:
            people = tuple([visible(str(one)) for one in unclear.people])
            case.ambiguity = Ambiguity(name=visible(unclear.text), people=people)
        detail = (
            unclear.sentence if unclear and not passed else f"“{target.value}” ({target.place})"
        )
        case.require(
            "name_ambiguous" if unclear else reason,
            Check(name=f"target {path}", passed=passed, detail=detail),
        )
        if listed_target is None:
            continue
        if target.catalogue is not None:
            names = getattr(facts, target.catalogue) or {}
            case.require(
                "target_changed",
                Check(
                    name=f"provider has {path}",
                    passed=names.get(target.value) == listed_target.name,
                    detail=f"“{visible(listed_target.name)}” ({target.place})",
                ),
            )
        if listed_target.single:
            source = case.request.account.source
            listed_targets = case.policy.listed_targets_for(
                action.name, action.resource_type, source
            )
            case.rivals += snapshot.rivals(listed_targets, listed_target)


def _is_novel(case: Case, target: Target) -> bool:
    """Whether nobody spoke of this receiver. Being a colleague says something only where the
    allowed action asks for it."""
    if not target.is_receiver:
        return False
    relations = case.relations[target.path]
    return relations <= COLLEAGUE and not any(one.knows(relations) for one in case.openings)


def _is_let_in(case: Case, target: Target) -> bool:
    """Whether the allowed action (not the ceiling) reaches this receiver without listing it. A
    blind copy never is."""
    if target.kind == "assignee":
        return _is_member(case, target)
    if not target.is_receiver or target.role == "bcc" or not case.openings:
        return False
    relations = case.relations[target.path]
    if case.unclear_name(target.path):
        relations -= COLLEAGUE  # one of two whom the user may mean: they are asked which
    return all(one.admits(relations) for one in case.openings)


def _is_member(case: Case, target: Target) -> bool:
    """Whether somebody is a member of the issue's project, and the allowed action is content with
    that: unasked where the user named them. Who of several is meant, the agent must ask first."""
    conditions = case.allowed_action.conditions if case.allowed_action else ()
    members = case.facts.members if case.facts else None
    named = bool(case.sources[target.path] & SPOKEN)
    if not named and case.unclear_name(target.path):
        return False
    return target.value in (members or ()) and (
        any(one.lets_member_in(named=named) for one in conditions)
    )

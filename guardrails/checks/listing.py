"""Whom and what the action reaches must be listed by an operator. Pure."""

from collections.abc import Iterator
from typing import Any

from guardrails import snapshot
from guardrails.actions.base import Action
from guardrails.checks.case import Case, Step
from guardrails.contracts import Check
from guardrails.facts import Facts
from guardrails.text import visible


def targets(case: Case, action: Action[Any], facts: Facts) -> Iterator[Step]:
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

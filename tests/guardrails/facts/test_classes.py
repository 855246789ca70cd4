"""Every argument of every action has one class, and the class says what it is."""

from collections import ChainMap
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from guardrails.actions import registry
from guardrails.actions.base import AnyAction, Arguments
from guardrails.actions.mail.mark_read import MarkRead
from guardrails.facts.classes import Is, classes
from guardrails.facts.text import Body, Line, ObjectId
from tests.guardrails.arguments import BASE, ROWS
from tests.guardrails.values import NOW, allow, decide, facts, policy_of, request

EVERY_ARGUMENT: dict[str, dict[str, Any]] = {
    name: dict(ChainMap(*(row.given(good=True) for row in ROWS if row.action == name), base))
    for name, base in BASE.items()
}


@pytest.mark.parametrize("action", registry.ACTIONS, ids=lambda action: action.name)
def test_every_argument_of_every_action_has_one_class(action: AnyAction) -> None:
    assert None not in action.classes.values()
    objects = {name for name, one in action.classes.items() if one == "object"}
    named = {action.object_field, "attachments"} & set(action.arguments.model_fields)
    assert objects == named


@pytest.mark.parametrize("name", EVERY_ARGUMENT)
def test_targets_are_the_arguments_that_are_classed_so(name: str) -> None:
    action = registry.BY_NAME[name]
    targets = action.targets(action.parse(EVERY_ARGUMENT[name]))
    named = {target.path.partition("[")[0] for target in targets}
    assert named == {argument for argument, one in action.classes.items() if one == "target"}


def test_a_class_is_found_however_deep_it_is_declared() -> None:
    class Model(BaseModel):
        lines: Annotated[tuple[Line, ...], Field(max_length=3)] | None = None
        both: tuple[Line, ...] | ObjectId = ()
        bare: str = ""
        again: tuple[Line, Body] | None = None
        when: Annotated[str, Is("time")] = ""

    assert classes(Model) == {
        "lines": "text",
        "both": None,
        "bare": None,
        "again": "text",
        "when": "time",
    }


def test_an_argument_without_a_class_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wider(Arguments):
        email_id: ObjectId
        urgency: str = ""

    class Odd(MarkRead):
        arguments = Wider  # type: ignore[assignment]  # what a careless author writes

    monkeypatch.setattr(registry, "BY_NAME", {"mark_read": Odd()})
    decision = decide(
        request=request("mark_read", {"email_id": "mail-1"}),
        policy=policy_of(allow("mark_read")),
        facts=facts(),
        now=NOW,
    )
    assert (decision.verdict, decision.reason) == ("refuse", "argument_unclassified")
    assert decision.sentence == "Remit does not know what one of the arguments is. “urgency”"

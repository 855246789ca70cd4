"""The door to tools that a model is shown a line of."""

import json
from typing import Any

import pytest

from agents.tools import load_skill, use_tool
from agents.tools.base import Tool, parse
from agents.tools.use_tool import TOOL
from integrations.llm.completions import RequestedCall
from tests.agents.tools.test_actions import call


def unwrapped(arguments: Any) -> tuple[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    [one] = use_tool.unwrap([RequestedCall(id="1", name="use_tool", arguments=text)])
    return one.name, json.loads(one.arguments) if one.name != "use_tool" else one.arguments


ARCHIVE = {"email_id": "m", "reason": "Old."}


@pytest.mark.parametrize(
    "given",
    [
        {"name": "archive", "arguments": ARCHIVE},
        {"name": "archive", "arguments": json.dumps(ARCHIVE)},
        {"name": "archive", **ARCHIVE},
        {"name": "archive", "reason": "Old.", "arguments": {"email_id": "m"}},
    ],
)
def test_a_call_through_the_door_is_one_of_the_tool_that_it_names(given: Any) -> None:
    assert unwrapped(given) == ("archive", ARCHIVE)


@pytest.mark.parametrize(
    "given",
    ["", "[]", "no", {"arguments": {}}, {"name": ""}, {"name": 7}, {"name": "a", "arguments": [1]}],
)
def test_what_names_no_tool_stays_and_is_explained(given: Any) -> None:
    name, arguments = unwrapped(given)
    assert name == "use_tool"
    text = given if isinstance(given, str) else json.dumps(given)
    assert arguments == text


def test_an_explanation_has_the_form_of_the_door() -> None:
    tool: Tool[Any] = TOOL
    found = parse(call("use_tool", {"tool": "archive"}), tool)
    assert getattr(found, "code", "") == "INVALID_INPUT"
    assert "`name`: Field required" in getattr(found, "message", "")


def test_other_calls_go_by_untouched() -> None:
    calls = (RequestedCall(id="1", name="archive", arguments="{"),)
    assert use_tool.unwrap(calls) == calls


def test_the_door_lists_what_is_behind_it() -> None:
    door = use_tool.offer(actions=(), tools=[load_skill.TOOL])
    assert door.description == f"{use_tool.HOW}\nload_skill(name): the text of a listed skill"

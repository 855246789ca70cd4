"""Schemas as a model is shown them take the same as those of the arguments themselves."""

import json
from datetime import date, datetime
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import BaseModel, Field

from agents.context.schemas import QUIET, TAUGHT, brief, describe_arguments, sign
from agents.turns.roster import AGENTS
from guardrails.actions.registry import ACTIONS

MODELS: dict[str, type[BaseModel]] = {
    tool.name: tool.arguments for agent in AGENTS for tool in agent.toolbox.values()
} | {action.name: action.arguments for action in ACTIONS}


class Odd(BaseModel):
    title: Annotated[str, Field(max_length=9, pattern="n")] = "none"
    default: int | None = None
    either: int | str | None = None
    when: datetime | date | None = None
    quiet: int = Field(default=0, json_schema_extra=QUIET)


def test_words_about_words_are_left_out_and_arguments_of_their_names_stay() -> None:
    assert describe_arguments(Odd) == {
        "properties": {
            "title": {"type": "string"},
            "default": {"type": "integer"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "when": {"type": "string", "format": "date-time"},
        },
        "type": "object",
    }


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_schema_is_one_and_names_the_same_arguments(name: str) -> None:
    whole: dict[str, Any] = MODELS[name].model_json_schema()
    lean = describe_arguments(MODELS[name])

    Draft202012Validator.check_schema(lean)
    loud = {one for one, said in whole.get("properties", {}).items() if not said.get("unsaid")}
    assert set(lean.get("properties", {})) == loud
    assert lean.get("required") == whole.get("required")
    assert len(str(lean)) <= len(str(whole))


@pytest.mark.parametrize("name", sorted(MODELS))
def test_what_is_shown_has_no_words_and_no_references(name: str) -> None:
    lean = describe_arguments(MODELS[name])
    shown = brief(lean)

    Draft202012Validator.check_schema(shown)
    assert set(shown.get("properties", {})) == set(lean.get("properties", {}))
    assert shown.get("required") == lean.get("required")
    written = json.dumps(shown)
    for word in ("$ref", "$defs", "anyOf", "format", "taught", "unsaid"):
        assert f'"{word}":' not in written
    assert not any("description" in one and "type" in one for one in shown["properties"].values())


def test_a_schema_is_signed_in_a_line() -> None:
    class Inner(BaseModel):
        word: str
        hint: str = Field(default="", json_schema_extra=QUIET)

    class Outer(BaseModel):
        """Words."""

        kind: Literal["a", "b c", "d|e"]
        level: Annotated[Literal["x", "y"], Field(json_schema_extra=TAUGHT)] = "x"
        several: list[Inner]
        when: datetime | date | None = Field(default=None, description="Words.")
        some: list[Literal[1, 2]] = []

    assert sign("do", brief(describe_arguments(Outer))) == (
        'do(kind: a|b c|"d|e", several[]: {word}, level?, when?, some[]?: 1|2)'
    )

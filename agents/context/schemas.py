"""Schemas of arguments as a model is shown them: what it needs to fill them in, and no more.

A tool is shown by its names, types and choices alone; the words about an argument, and the form of
its value, come with the error that teaches (`agents.tools.forms`).
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, JsonValue

# Words about words, what a model leaves out anyway, and limits that it hardly ever meets: one that
# it does meet is named by the error.
SUPERFLUOUS = frozenset(
    {
        *("title", "default", "additionalProperties", "pattern"),
        *("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"),
    }
)

UNSAID = "unsaid"
# An argument that is understood, and that no model needs to know of: `Field(json_schema_extra=…)`.
QUIET: dict[str, JsonValue] = {UNSAID: True}
# One whose choices come with the error: a model guesses, or needs it seldom.
TAUGHT: dict[str, JsonValue] = {"taught": True}


@cache
def describe_arguments(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model's arguments. It is one value for all: change none of it."""
    found: dict[str, Any] = _lean(model.model_json_schema())
    return found


def _lean(schema: Any) -> Any:
    """A JSON schema in fewer words: it names the same arguments and takes no less."""
    if isinstance(schema, list):
        return [_lean(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    left: dict[str, Any] = {}
    for key, value in schema.items():
        if key in SUPERFLUOUS:
            continue
        # The keys below these are names of arguments, maybe one called title.
        if key in ("properties", "$defs") and isinstance(value, Mapping):
            said = {name: one for name, one in value.items() if not one.get(UNSAID)}
            left[key] = {name: _lean(one) for name, one in said.items()}
        else:
            left[key] = _lean(value)
    return _with_fewer_choices(left)


def _with_fewer_choices(schema: dict[str, Any]) -> dict[str, Any]:
    """An argument that may be null need not be given: that says the same. Of several formats of a
    text the first is enough to know; the others are understood too."""
    if "anyOf" not in schema:
        return schema
    choices = [one for one in schema["anyOf"] if one != {"type": "null"}]
    if all(one.get("type") == "string" and "enum" not in one for one in choices):
        choices = choices[:1]
    if len(choices) == len(schema["anyOf"]):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**choices[0], **rest} if len(choices) == 1 else {**rest, "anyOf": choices}


# Known from an argument's name, or else from the error.
WORDS = frozenset({"description", "format"})
PLAIN = re.compile(r"[\w .@/+&-]*[\w.@/+&-]")


def brief(schema: Any, defined: Mapping[str, Any] | None = None) -> Any:
    """A lean schema without words, each reference replaced by what it stands for."""
    if isinstance(schema, list):
        return [brief(one, defined) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    defined = schema.get("$defs", defined) or {}
    if "$ref" in schema:
        return brief(defined[schema["$ref"].rpartition("/")[2]], defined)
    left: dict[str, Any] = {}
    passed_over = WORDS | {"$defs", *TAUGHT} | ({"enum"} if "taught" in schema else set())
    for key, value in schema.items():
        if key in passed_over:
            continue
        if key == "properties":
            left[key] = {name: brief(one, defined) for name, one in value.items()}
        else:
            left[key] = value if key in ("enum", "required") else brief(value, defined)
    return left


def sign(name: str, schema: Mapping[str, Any]) -> str:
    """A brief schema in a line: `archive(email_id, reason?)`. `[]` is a list, `?` may be left
    out, and choices stand between bars."""
    return f"{name}({_arguments(schema)})"


def _arguments(schema: Mapping[str, Any]) -> str:
    needed = schema.get("required", ())
    properties = schema.get("properties", {})
    ordered = sorted(properties, key=lambda name: name not in needed)
    return ", ".join(_argument(name, properties[name], name in needed) for name in ordered)


def _argument(name: str, schema: Mapping[str, Any], is_needed: bool) -> str:
    is_list = schema.get("type") == "array"
    one = schema.get("items", {}) if is_list else schema
    said = f"{name}{'[]' if is_list else ''}{'' if is_needed else '?'}"
    if "enum" in one:
        return f"{said}: {'|'.join(map(_choice, one['enum']))}"
    return f"{said}: {{{_arguments(one)}}}" if "properties" in one else said


def _choice(value: Any) -> str:
    """A name that could be taken for something else is quoted."""
    text = str(value)
    return text if PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)

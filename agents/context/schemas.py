"""Schemas of arguments as a model is shown them: what it needs to fill them in, and no more."""

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

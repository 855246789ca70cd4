"""A form for an action's arguments, made from their schema: no JSON for people."""

from collections.abc import Mapping
from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from guardrails.actions.base import Action

LONG = 1000  # characters from which on a text gets several lines
PREFIX = "argument-"


def fields(action: Action[Any]) -> dict[str, forms.Field]:
    """A form field for each argument; lists are one line an item, and what is left empty is
    not given. The arguments' own schema is checked by the decision, not here."""
    schema = action.arguments.model_json_schema()
    required = set(schema.get("required", ()))
    return {
        PREFIX + name: _field(name, described, required=name in required)
        for name, described in schema["properties"].items()
    }


def arguments(action: Action[Any], cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that somebody filled in."""
    schema = action.arguments.model_json_schema()["properties"]
    found: dict[str, Any] = {}
    for name, described in schema.items():
        text = cleaned.get(PREFIX + name, "").replace("\r\n", "\n")
        if text == "":
            continue
        kind = _plain(described).get("type")
        if kind == "array":
            found[name] = [line.strip() for line in text.splitlines() if line.strip()]
        elif kind == "boolean":
            found[name] = text == "true"
        elif kind == "integer":
            found[name] = int(text) if text.lstrip("-").isdecimal() else text
        else:
            found[name] = text
    return found


def _field(name: str, described: Mapping[str, Any], *, required: bool) -> forms.Field:
    plain = _plain(described)
    given: dict[str, Any] = {
        "label": name.replace("_", " ").capitalize(),
        "required": required,
        "strip": False,
    }
    values = plain.get("enum") or (["true", "false"] if plain.get("type") == "boolean" else None)
    if values:
        choices = [("", "(not given)"), *((value, value) for value in values)]
        del given["strip"]
        return forms.ChoiceField(choices=choices, widget=UnfoldAdminSelectWidget, **given)
    if plain.get("type") == "array":
        given["help_text"] = "One a line."
    several = plain.get("type") == "array" or plain.get("maxLength", 0) > LONG
    widget = UnfoldAdminTextareaWidget({"rows": 3}) if several else UnfoldAdminTextInputWidget
    return forms.CharField(widget=widget, **given)


def _plain(described: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of an argument that may be null, the part that says what else it may be."""
    options = described.get("anyOf", [described])
    return next((one for one in options if one.get("type") != "null"), described)

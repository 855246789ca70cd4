"""Form fields for a pydantic model, made from its schema: no JSON for people."""

from collections.abc import Collection, Mapping
from typing import Any
from zoneinfo import available_timezones

from django import forms
from pydantic import BaseModel
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

LONG = 1000  # characters from which on a text gets several lines
CHOOSE, NOT_GIVEN = ("", "Choose"), ("", "(not given)")
YES_OR_NO = (("true", "Yes"), ("false", "No"))
Schema = Mapping[str, Any]


def fields(
    model: type[BaseModel], *, prefix: str = "", without: Collection[str] = ()
) -> dict[str, forms.Field]:
    """A form field for each field of the model, filled with its default. Lists are one line
    an item. The model itself is checked by the code that takes the values, not here."""
    return {
        prefix + name: _field(name, described, required=required)
        for name, described, required in _described(model, without)
    }


def values(
    model: type[BaseModel],
    cleaned: Mapping[str, Any],
    *,
    prefix: str = "",
    without: Collection[str] = (),
) -> dict[str, Any]:
    """What somebody filled in, as plain data for the model. What was left empty is not given."""
    found: dict[str, Any] = {}
    for name, described, _ in _described(model, without):
        value = _value(described, cleaned.get(prefix + name))
        if value is not None:
            found[name] = value
    return found


def initial(model: type[BaseModel], raw: Mapping[str, Any]) -> dict[str, Any]:
    """Stored values as their form fields show them."""
    return {
        name: _to_text(described, raw[name])
        for name, described, _ in _described(model)
        if name in raw
    }


def _described(
    model: type[BaseModel], without: Collection[str] = ()
) -> list[tuple[str, dict[str, Any], bool]]:
    """Name, schema and whether it must be given, of each field."""
    schema = model.model_json_schema()
    required = set(schema.get("required", ()))
    return [
        (name, _plain(described, schema.get("$defs", {})), name in required)
        for name, described in schema["properties"].items()
        if name not in without
    ]


def _plain(described: Schema, definitions: Mapping[str, Schema]) -> dict[str, Any]:
    """The schema of one field, without references; of one that may be null, the part that
    says what else it may be."""
    options = described.get("anyOf", [described])
    plain = next((one for one in options if one.get("type") != "null"), described)
    whole = {**described, **plain}
    if name := whole.pop("$ref", "").rpartition("/")[2]:
        whole = {**definitions[name], **whole}
    if "items" in whole:
        whole["items"] = _plain(whole["items"], definitions)
    return whole


def _field(name: str, described: Schema, *, required: bool) -> forms.Field:
    default = described.get("default")
    given: dict[str, Any] = {
        "label": name.replace("_", " ").capitalize(),
        "required": required or default not in (None, "", [], {}),
        "initial": None if default is None else _to_text(described, default),
        "help_text": described.get("description", ""),
    }
    if described.get("type") == "array":
        return _list(described, given)
    if described.get("type") == "object":
        given["help_text"] = f"{given['help_text']} An object in JSON.".strip()
        return forms.JSONField(widget=UnfoldAdminTextareaWidget({"rows": 8}), **given)
    if choices := _choices(described):
        empty = [] if default is not None else [CHOOSE if required else NOT_GIVEN]
        choices = [*empty, *choices]
        return forms.ChoiceField(choices=choices, widget=UnfoldAdminSelectWidget, **given)
    if described.get("type") in ("integer", "number"):
        limits = {"min_value": described.get("minimum"), "max_value": described.get("maximum")}
        number: Any = forms.IntegerField if described["type"] == "integer" else forms.FloatField
        step = {} if described["type"] == "integer" else {"step": "any"}
        widget = UnfoldAdminIntegerFieldWidget(step)
        found: forms.Field = number(widget=widget, **limits, **given)
        return found
    if described.get("format") == "time":
        clock = UnfoldAdminTextInputWidget({"type": "time"})
        return forms.CharField(widget=clock, **given)
    several = described.get("maxLength", 0) > LONG
    text = UnfoldAdminTextareaWidget({"rows": 3}) if several else UnfoldAdminTextInputWidget
    return forms.CharField(widget=text, strip=False, **given)


def _list(described: Schema, given: dict[str, Any]) -> forms.Field:
    if choices := _choices(described["items"]):
        widget = UnfoldAdminCheckboxSelectMultipleWidget
        return forms.MultipleChoiceField(choices=choices, widget=widget, **given)
    given["help_text"] = f"{given['help_text']} One per line.".strip()
    return forms.CharField(widget=UnfoldAdminTextareaWidget({"rows": 3}), **given)


def _choices(described: Schema) -> list[tuple[str, str]]:
    """The closed list that a value is from; empty if it is free."""
    if described.get("type") == "boolean":
        return list(YES_OR_NO)
    if described.get("format") == "time-zone":
        return [(zone, zone) for zone in sorted(available_timezones())]
    known = described.get("enum") or ([described["const"]] if "const" in described else [])
    return [(str(one), str(one).replace("_", " ").capitalize()) for one in known]


def _to_text(described: Schema, value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        closed = described.get("type") == "array" and _choices(described["items"])
        return list(value) if closed else "\n".join(map(str, value))
    return value


def _value(described: Schema, given: Any) -> Any:
    """What a cleaned field says, as plain data. None when it is not given."""
    if described.get("type") == "array" and isinstance(given, str):
        given = [line.strip() for line in given.splitlines() if line.strip()]
    if given in (None, "", []):
        return None
    if described.get("type") == "boolean":
        return given == "true"
    return given.replace("\r\n", "\n") if isinstance(given, str) else given

"""Arguments fit the schema that a server gave, or are refused. JSON Schema itself is the judge."""

from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, strategies as st

from guardrails.facts.tool_schemas import Misfit, check, free_names

NAMES = st.sampled_from(["a", "b", "c", "odd/name", "~x"])
LEAVES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.sampled_from(["string", "integer", "number", "boolean", "null"]).map(lambda t: {"type": t}),
    st.just({"type": ["integer", "null"]}),
    st.just({"enum": ["x", 1, None]}),
    st.just({"const": 7}),
    st.just({"type": "string", "maxLength": 2}),
    st.just({"type": "integer", "minimum": 2}),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(0, 9), st.sampled_from(["x", "long"])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)


def objects(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(NAMES, inner, min_size=1, max_size=3).map(
        lambda named: {"type": "object", "properties": named, "additionalProperties": False}
    )


SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        objects(inner),
        inner.map(lambda one: {"type": "array", "items": one}),
        st.lists(inner, min_size=1, max_size=2).map(lambda several: {"anyOf": several}),
    ),
    max_leaves=6,
)


def fits(value: Any, schema: dict[str, Any]) -> bool:
    try:
        check(value, schema)
    except Misfit:
        return False
    return True


def opened(schema: Any) -> Any:
    """The schema without its word about unknown names, as most servers write it."""
    if isinstance(schema, dict):
        return {k: opened(v) for k, v in schema.items() if k != "additionalProperties"}
    return [opened(one) for one in schema] if isinstance(schema, list) else schema


@given(objects(SCHEMAS), st.dictionaries(NAMES, VALUES, max_size=3))
def test_what_passes_fits_the_schema_with_every_object_closed(
    schema: dict[str, Any], value: dict[str, Any]
) -> None:
    valid = jsonschema.Draft202012Validator(schema).is_valid(value)

    assert fits(value, schema) == valid
    # Whether the server forgot to close its objects changes nothing.
    assert fits(value, opened(schema)) == valid


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "additionalProperties": True},
        {"type": "object", "patternProperties": {".*": {}}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {},
        {"$ref": "https://evil.example/schema"},
        {"$ref": "#/nothing"},
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"type": "thing", "properties": {"a": {}}},
        {"type": "object", "properties": ["a"]},
        {"anyOf": []},
    ],
    ids=str,
)
def test_what_a_schema_does_not_name_is_refused_at_the_top(schema: dict[str, Any]) -> None:
    assert not fits({"a": "x"}, schema)


def test_references_and_parts_within_the_document_are_followed() -> None:
    schema = {
        "type": "object",
        "$defs": {"Issue": {"type": "object", "properties": {"title": {"type": "string"}}}},
        "properties": {"issue": {"$ref": "#/$defs/Issue"}, "free": {"type": "object"}},
        "allOf": [{"properties": {"more": {"type": "integer"}}, "required": ["more"]}],
    }
    assert fits({"issue": {"title": "x"}, "more": 1, "free": {"any": [1]}}, schema)
    assert not fits({"issue": {"title": "x"}}, schema)
    assert not fits({"issue": {"title": "x", "bcc": "y"}, "more": 1}, schema)
    assert not fits({"more": "1"}, schema)
    assert not fits({"more": 1, "other": 1}, schema)


def test_a_schema_that_never_ends_is_refused_and_a_pattern_is_not_run() -> None:
    endless: dict[str, Any] = {"type": "object", "properties": {}}
    endless["properties"]["a"] = {"$ref": "#/properties/a"}
    assert not fits({"a": 1}, endless)
    evil = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(a+)+$"}}}
    assert fits({"a": "a" * 5000 + "!"}, evil)


def test_names_that_the_schema_names_nowhere_are_named_however_deep() -> None:
    schema = {
        "properties": {"a": {"type": "object"}, "b": {"$ref": "#/$defs/b"}},
        "$defs": {"b": {"properties": {"c": {}}}},
    }
    value = {"a": {"the plan": None}, "b": [{"c": {"x": 1}}]}

    assert free_names(value, schema, "arguments") == (
        "arguments.a.the plan (name)",
        "arguments.b[0].c.x (name)",
    )
    assert free_names({"a": 1, "b": [{"c": 2}]}, schema, "arguments") == ()

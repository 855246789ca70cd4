"""A vendor's published OpenAPI description, held against what Remit asks and what a fake answers.

    described = Description(FOLDER / "openapi.json")
    operation = described.find("POST", "/repos/octo/plans/issues")
    operation.check_request(query={}, body={"title": "Plan"})

Stricter than the vendor: a parameter or field that the description does not name is refused, too.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

USUAL: dict[str, Any] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}
FORMATS = {"uri": "https://example.test/", "date-time": "2026-01-05T09:00:00Z", "email": "a@b.test"}


class NotDescribed(AssertionError):
    """The description knows no such request or answer."""


class Description:
    def __init__(self, path: Path, *, read: Callable[[Any], Any] = lambda data: data) -> None:
        """`read` makes it one, where the file is another's form."""
        self._data: dict[str, Any] = _plain(read(json.loads(path.read_text())))

    def find(self, method: str, path: str) -> "Operation":
        """The most literal of those that fit."""
        found = [
            (template.count("{"), template)
            for template in self._data["paths"]
            if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path)
        ]
        for _, template in sorted(found):
            if method.lower() in self._data["paths"][template]:
                return Operation(self, self._data["paths"][template][method.lower()])
        raise NotDescribed(f"{method} {path}")

    def resolve(self, value: Any) -> Any:
        while isinstance(value, dict) and "$ref" in value:
            found: Any = self._data
            for part in value["$ref"][2:].split("/"):
                found = found[part]
            value = found
        return value

    def check(self, schema: Any, value: Any, *, what: str) -> None:
        rooted = {**schema, "components": self._data["components"]}
        problems = list(Draft202012Validator(rooted).iter_errors(value))
        if problems:
            first = problems[0]
            raise NotDescribed(f"{what}: {list(first.absolute_path)}: {first.message[:300]}")

    def fill(self, schema: Any, given: Mapping[str, Any]) -> dict[str, Any]:
        """`given`, with something for every field that an answer must have."""
        schema = self.resolve(schema)
        wanted: dict[str, Any] = {}
        for part in map(self.resolve, schema.get("allOf", [schema])):
            for name in part.get("required", ()):
                wanted[name] = self._usual(part["properties"].get(name, {}))
        return {**wanted, **given}

    def _usual(self, schema: Any) -> Any:
        schema = self.resolve(schema)
        for several in ("anyOf", "oneOf"):
            if several in schema:
                if {"type": "null"} in schema[several]:
                    return None
                return self._usual(schema[several][0])
        if "enum" in schema:
            return schema["enum"][0]
        if schema.get("format") in FORMATS:
            return FORMATS[schema["format"]]
        if schema.get("type") == "object" or "properties" in schema:
            return self.fill(schema, {})
        return USUAL[schema.get("type", "object")]


@dataclass(frozen=True)
class Operation:
    description: Description
    data: dict[str, Any]

    def check_request(self, *, query: Mapping[str, str], body: Any) -> None:
        """Raises NotDescribed."""
        known = [self.description.resolve(one) for one in self.data.get("parameters", ())]
        named = {one["name"]: one["schema"] for one in known if one["in"] == "query"}
        for name, text in query.items():
            if name not in named:
                raise NotDescribed(f"the parameter {name}")
            kind = self.description.resolve(named[name]).get("type")
            value: Any = int(text) if kind == "integer" else text
            value = text.split(",") if kind == "array" else value
            value = text == "true" if kind == "boolean" else value
            self.description.check(named[name], value, what=name)
        if body is None:
            return
        if "requestBody" not in self.data:
            raise NotDescribed("a body")
        schema = self.description.resolve(_json(self.data["requestBody"]))
        unknown = set(body) - set(schema.get("properties", body))
        if unknown:
            raise NotDescribed(f"the fields {sorted(unknown)}")
        self.description.check(schema, body, what="body")

    @cached_property
    def answer(self) -> Any:
        """The schema of what it answers where it succeeds; None: nothing is said."""
        (found,) = self.data["responses"].values()
        return _json(found)

    def check_answer(self, body: Any) -> None:
        if self.answer is not None:
            self.description.check(self.answer, body, what="answer")


def _json(content: Any) -> Any:
    found = content.get("content", {}).get("application/json")
    return None if found is None else found.get("schema")


def _plain(value: Any) -> Any:
    """As JSON Schema has it: OpenAPI 3.0 says `nullable`."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {name: _plain(one) for name, one in value.items()}
    if found.pop("nullable", False) is True:
        return {"anyOf": [found, {"type": "null"}]}
    return found

"""A discovery document of Google's as an OpenAPI description, so that both are held against
requests and answers in the same way (`tests.openapi`). Stricter than Google: what a schema does not
name is refused wherever it stands.

    described = Description(FOLDER / "discovery.json", read=as_openapi)
"""

from collections.abc import Iterator, Mapping
from typing import Any


def as_openapi(document: Mapping[str, Any]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    everywhere = document.get("parameters", {})
    for method in _methods(document):
        found = _operation(method, everywhere)
        places = [f"/{document['servicePath']}{method['flatPath']}"]
        if "mediaUpload" in method:  # with bytes, at a place of its own
            places.append(method["mediaUpload"]["protocols"]["simple"]["path"])
        for path in places:
            paths.setdefault(path, {})[method["httpMethod"].lower()] = found
    schemas = {name: _schema(one) for name, one in document["schemas"].items()}
    return {"paths": paths, "components": {"schemas": schemas}}


def _methods(resource: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from resource.get("methods", {}).values()
    for inner in resource.get("resources", {}).values():
        yield from _methods(inner)


def _operation(method: Mapping[str, Any], everywhere: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "parameters": [
            {"name": name, "in": one["location"], "schema": _parameter(one)}
            for name, one in {**everywhere, **method.get("parameters", {})}.items()
        ],
        "responses": {"200": _content(method.get("response"))},
    }
    if "request" in method:
        found["requestBody"] = _content(method["request"])
    return found


def _parameter(one: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in one.items() if name in ("type", "enum")}
    return {"type": "array", "items": plain} if one.get("repeated") else plain


def _content(schema: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": _schema(schema)}}} if schema else {}


def _schema(value: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in value:
        return {"$ref": f"#/components/schemas/{value['$ref']}"}
    kept = {name: one for name, one in value.items() if name in ("type", "enum")}
    if kept.get("type") == "any":
        return {}
    if "items" in value:
        kept["items"] = _schema(value["items"])
    if "properties" in value:
        kept["properties"] = {name: _schema(one) for name, one in value["properties"].items()}
        kept["additionalProperties"] = False
    elif isinstance(value.get("additionalProperties"), dict):
        kept["additionalProperties"] = _schema(value["additionalProperties"])
    return kept

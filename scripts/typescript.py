"""One TypeScript module out of the API's schema: its types, and a method for each operation.

Of our own, because the well-kept generators need npm, and a machine that tests Remit has none.
Pure: schema in, text out. What the schema says in a way that is not known here raises Unknown.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).with_name("client.ts")
PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
JSON = "application/json"
WIDTH = 100


class Unknown(ValueError):
    """The schema says something that this module has no words for."""


def render(schema: Mapping[str, Any]) -> str:
    """The module's text. Raises Unknown."""
    operations = [
        (method, path, found)
        for path, methods in schema["paths"].items()
        for method, found in methods.items()
        if found.get("security")  # webhooks and the stream need no token: the template has them
    ]
    methods = "\n\n".join(_method(*one) for one in operations)
    types = "\n\n".join(_declare(*one) for one in schema["components"]["schemas"].items())
    text = TEMPLATE.read_text(encoding="utf-8")
    return text.replace("  // operations\n", f"{methods}\n").replace("// types\n", f"{types}\n")


def express(schema: Mapping[str, Any]) -> str:
    """The type that fits the schema. Raises Unknown."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "allOf" in schema:
        return " & ".join(map(express, schema["allOf"]))
    if "oneOf" in schema:
        return " | ".join(map(express, schema["oneOf"]))
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(express({**schema, "type": one}) for one in kind)
    if kind == "array":
        inner = express(schema["items"])
        return f"({inner})[]" if "|" in inner or "&" in inner else f"{inner}[]"
    if kind == "object":
        return _object(schema)
    if kind in PLAIN:
        return "Blob" if schema.get("format") == "binary" else PLAIN[kind]
    if kind is None and not set(schema) - {"description", "readOnly"}:
        return "unknown"
    raise Unknown(f"a schema that is not known here: {schema}")


def _object(schema: Mapping[str, Any]) -> str:
    if "properties" in schema:
        return "{ " + "; ".join(f"{name}: {kind}" for name, kind, _ in _fields(schema)) + " }"
    more = schema.get("additionalProperties")
    return f"Record<string, {express(more) if isinstance(more, dict) else 'unknown'}>"


def _fields(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Of each its name, its type and what is said of it. A name with “?” may be left out."""
    required = schema.get("required", ())
    for name, found in schema["properties"].items():
        yield name if name in required else f"{name}?", express(found), found.get("description", "")


def _declare(name: str, schema: Mapping[str, Any]) -> str:
    about = _comment(schema.get("description", ""), indent="")
    if "properties" not in schema:
        return f"{about}export type {name} = {express(schema)};"
    fields = [
        f"{_comment(said, indent='  ')}  {field}: {kind};" for field, kind, said in _fields(schema)
    ]
    return f"{about}export interface {name} {{\n" + "\n".join(fields) + "\n}"


def _method(method: str, path: str, operation: Mapping[str, Any]) -> str:
    parameters = operation.get("parameters", ())
    inside = [one["name"] for one in parameters if one["in"] == "path"]
    query = {one["name"]: one for one in parameters if one["in"] == "query"}
    arguments, sent = [f"{name}: string" for name in inside], []
    if body := operation.get("requestBody"):
        arguments.append(f"body: {express(body['content'][JSON]['schema'])}")
        sent.append("body")
    if query:
        needed = any(one.get("required") for one in query.values())
        fields = {
            "properties": {name: one["schema"] for name, one in query.items()},
            "required": [name for name, one in query.items() if one.get("required")],
        }
        arguments.append(f"query: {_object(fields)}{'' if needed else ' = {}'}")
        sent.append("query")
    arguments.append("options: Options = {}")
    address = re.sub(r"{(\w+)}", r"${encodeURIComponent(\1)}", path)
    kind = _answer(operation)
    send = {"void": "await this.send", "Blob": "return this.blob"}.get(kind, "return this.json")
    given = f"{{ {', '.join([*sent, 'options'])} }}"
    does = f'{send}("{method.upper()}", `{address}`, {given});'
    name = re.sub(r"_(\w)", lambda found: found[1].upper(), operation["operationId"])
    about = _comment(operation.get("description") or operation["summary"], indent="  ")
    taken = "".join(f"    {one},\n" for one in arguments)
    return f"{about}  async {name}(\n{taken}  ): Promise<{kind}> {{\n    {does}\n  }}"


def _answer(operation: Mapping[str, Any]) -> str:
    """The type of what comes back."""
    found = [one for status, one in operation["responses"].items() if status.startswith("2")]
    kinds = list(dict.fromkeys(_content(one) for one in found))
    if len(kinds) != 1:
        raise Unknown(f"{operation['operationId']} answers in several ways: {kinds}")
    return kinds[0]


def _content(answer: Mapping[str, Any]) -> str:
    content = answer.get("content")
    if not content:
        return "void"
    return express(content[JSON]["schema"]) if JSON in content else "Blob"


def _comment(said: str, *, indent: str) -> str:
    lines = [line.rstrip() for line in said.replace("*/", "* /").strip().splitlines()]
    if not lines:
        return ""
    if len(lines) == 1 and len(indent + lines[0]) < WIDTH - 8:
        return f"{indent}/** {lines[0]} */\n"
    inner = "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines)
    return f"{indent}/**\n{inner}{indent} */\n"

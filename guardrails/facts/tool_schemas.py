"""Whether arguments fit the schema that a tool's server gave: its names, its types. Pure.

Unknown names are refused wherever a schema names any, whatever it says about others, and at the
top in any case. What else a schema demands (patterns, formats) its server checks by itself: no
regular expression of a stranger's is run here.

`jsonschema` judges the tests but not the calls: it accepts unknown names under 5 of the 12 open
or broken schemas tested here, and ran a pattern against 27 characters for more than ten seconds.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
DEPTH = 24
IS: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


class Misfit(ValueError):
    """A value that does not fit. The message names the place, and repeats no value."""


def check(arguments: Mapping[str, Any], schema: Schema) -> None:
    """Raises Misfit. A schema that cannot be followed fits nothing."""
    try:
        _fits(dict(arguments), schema, schema, "arguments", DEPTH, closed=True)
        if unknown := set(arguments) - _names(schema, schema, DEPTH):
            raise Misfit(f"arguments: unknown names ({len(unknown)})")
    except (RecursionError, KeyError, TypeError, AttributeError) as error:
        raise Misfit("the tool's schema cannot be followed") from error


def free_names(value: Any, schema: Schema, path: str) -> tuple[str, ...]:
    """The paths of all names in a value that the schema names nowhere."""
    return tuple(_free(value, _every_name(schema), path))


def _free(value: Any, known: set[str], path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, one in value.items():
            if name not in known:
                yield f"{path}.{name} (name)"
            yield from _free(one, known, f"{path}.{name}")
    elif isinstance(value, list | tuple):
        for index, one in enumerate(value):
            yield from _free(one, known, f"{path}[{index}]")


def _every_name(schema: Any) -> set[str]:
    """Every name that stands under `properties` anywhere in the schema."""
    if isinstance(schema, list | tuple):
        return set().union(*map(_every_name, schema))
    if not isinstance(schema, Mapping):
        return set()
    own = schema.get("properties")
    found = set(own) if isinstance(own, Mapping) else set()
    return found.union(*map(_every_name, schema.values()))


def _fits(value: Any, schema: Any, root: Schema, at: str, depth: int, *, closed: bool) -> None:
    if schema is True:
        return
    if schema is False or depth < 0:
        raise Misfit(f"{at}: nothing is allowed here")
    schema = _resolved(schema, root, depth)
    _is_of(value, schema, at)
    _within(value, schema, at)
    own_names = bool(schema.get("properties"))
    for part in schema.get("allOf", ()):
        _fits(value, part, root, at, depth - 1, closed=False)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            _any(value, schema[choice], root, at, depth - 1, closed=closed and not own_names)
    if isinstance(value, dict):
        _object(value, schema, root, at, depth, closed=closed)
    elif isinstance(value, list | tuple):
        first = schema.get("prefixItems", ())
        for index, item in enumerate(value):
            inner = first[index] if index < len(first) else schema.get("items", True)
            _fits(item, inner, root, f"{at}[{index}]", depth - 1, closed=True)


def _is_of(value: Any, schema: Schema, at: str) -> None:
    """The value's type, and that it is one of those that are listed."""
    kinds = schema.get("type")
    if kinds is not None and not any(
        _is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)
    ):
        raise Misfit(f"{at}: is not of the type {kinds}")
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        raise Misfit(f"{at}: is none of the allowed values")
    if "const" in schema and not _same(value, schema["const"]):
        raise Misfit(f"{at}: is not the allowed value")


def _object(
    value: Mapping[str, Any], schema: Schema, root: Schema, at: str, depth: int, *, closed: bool
) -> None:
    if missing := set(schema.get("required", ())) - set(value):
        raise Misfit(f"{at}: lacks {', '.join(sorted(missing))[:200]}")
    known = _names(schema, root, depth)
    others = schema.get("additionalProperties")
    own = schema.get("properties", {})
    for name, item in value.items():
        if name in own:
            _fits(item, own[name], root, f"{at}.{name}", depth - 1, closed=True)
        elif name in known:
            continue  # looked at where it is named
        elif isinstance(others, Mapping) and others:
            _fits(item, others, root, f"{at}.(another name)", depth - 1, closed=True)
        elif closed and (known or others is False):
            raise Misfit(f"{at}: has an unknown name")


def _any(value: Any, schemas: Any, root: Schema, at: str, depth: int, *, closed: bool) -> None:
    problems = []
    for schema in schemas:
        try:
            _fits(value, schema, root, at, depth, closed=closed)
        except Misfit as problem:
            problems.append(problem)
        else:
            return
    raise problems[0] if problems else Misfit(f"{at}: nothing is allowed here")


def _names(schema: Any, root: Schema, depth: int) -> set[str]:
    """Every name that an object may have by this schema, in all of its parts."""
    if not isinstance(schema, Mapping) or depth < 0:
        return set()
    schema = _resolved(schema, root, depth)
    found = set(schema.get("properties", ()))
    for part in ("allOf", "anyOf", "oneOf"):
        for one in schema.get(part, ()):
            found |= _names(one, root, depth - 1)
    return found


def _resolved(schema: Any, root: Schema, depth: int) -> Schema:
    """The schema that a reference within the same document leads to."""
    for _ in range(depth + 1):
        if not isinstance(schema, Mapping):
            raise TypeError("a schema is an object")
        if "$ref" not in schema:
            return schema
        path = str(schema["$ref"])
        if not path.startswith("#/"):
            raise KeyError("only references within the document are followed")
        schema = root
        for part in path[2:].split("/"):
            schema = schema[part.replace("~1", "/").replace("~0", "~")]
    raise RecursionError


def _is(value: Any, kind: Any) -> bool:
    if isinstance(value, bool):
        return bool(kind == "boolean")
    return isinstance(value, IS[kind])


def _same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)


def _within(value: Any, schema: Schema, at: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | list | tuple):
        return
    size, kind = (
        (value, "imum")
        if isinstance(value, int | float)
        else (len(value), "Length" if isinstance(value, str) else "Items")
    )
    least, most = schema.get(f"min{kind}"), schema.get(f"max{kind}")
    if (least is not None and size < least) or (most is not None and size > most):
        raise Misfit(f"{at}: is out of its bounds")

"""Results of tools on their way to a model: bounded in size, and fenced where strangers wrote them.

The fence is JSON: text stays inside its quotes, and markup inside it is written as escapes, so
that nothing in it can close a block, pass for a role or be one of a model's own marks.
"""

import json
from collections.abc import Mapping
from typing import Any

CUT = "This result was too long and was cut."
TITLE_CHARS = 80
# Characters of a text and entries of a list that are kept, tried one after another.
SIZES = ((8000, 100), (4000, 50), (2000, 50), (1000, 25), (500, 20), (200, 10), (80, 5))
DEPTH = 8


def fence(value: Any) -> str:
    """JSON without angle brackets, its keys in order: what comes back from the database in another
    order is still the same text, so that an endpoint finds it in its cache."""
    written = json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), default=dict, sort_keys=True
    )
    return written.replace("<", "\\u003c").replace(">", "\\u003e")


def count_bytes(value: Any) -> int:
    return len(fence(value).encode())


def bound_result(data: Mapping[str, Any], *, max_bytes: int) -> dict[str, Any]:
    """`data`, or as much of it as fits: long texts and lists lose their ends, and `cut` says so."""
    if count_bytes(data) <= max_bytes:
        return dict(data)
    for chars, entries in SIZES:
        shorter = {**_cut(data, chars, entries, DEPTH), "cut": CUT}
        if count_bytes(shorter) <= max_bytes:
            return shorter
    return {"cut": CUT}


def _cut(value: Any, chars: int, entries: int, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= chars else f"{value[:chars]} […]"
    if isinstance(value, Mapping):
        if not depth:
            return {}
        pairs = list(value.items())[: 2 * entries]
        return {key: _cut(item, chars, entries, depth - 1) for key, item in pairs}
    if isinstance(value, list | tuple):
        return [_cut(item, chars, entries, depth - 1) for item in value[:entries]] if depth else []
    return value


def render_result(result: Mapping[str, Any]) -> str:
    """A result as the model is shown it: what it is comes first."""
    marks = {name: result[name] for name in ("success", "untrusted") if name in result}
    rest = {name: value for name, value in result.items() if name not in marks}
    written = [fence(part)[1:-1] for part in (marks, rest) if part]
    return f"{{{','.join(written)}}}"


def shrink_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """What stays of an older result when there is no room for it: whether it worked, and the
    numbers and titles of the items it had shown."""
    if not result.get("success"):
        return {key: value for key, value in result.items() if key != "data"}
    data = result.get("data")
    titles = [
        {"n": item["n"], "title": str(item.get("title", ""))[:TITLE_CHARS]}
        for item in (list_items(data) if isinstance(data, Mapping) else ())
    ]
    left = {"note": "This older result was left out.", **({"items": titles} if titles else {})}
    return {**{key: value for key, value in result.items() if key != "data"}, "data": left}


def is_item(value: object) -> bool:
    """Whether this is an item with the number it is cited by."""
    return isinstance(value, Mapping) and "n" in value and "id" in value


def list_items(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The items that the lists of a result hold, whatever it calls them (results of a search,
    events), each once: the times of a series share a number."""
    found: dict[object, Mapping[str, Any]] = {}
    for value in data.values():
        for one in value if isinstance(value, list) else ():
            if is_item(one):
                found.setdefault(one["n"], one)
    return list(found.values())

"""The tools that are listed in the description of one other, a line each:
`classify(email_id, label_id: FYI|"To: reply")` and maybe some words. It is called with the name and
the arguments of a listed tool."""

import json
from collections.abc import Iterator
from typing import Any

DOOR = "use_tool"


def listed(description: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The listed tools: name, and a schema of the choices of the arguments."""
    for line in description.splitlines():
        name, bracket, rest = line.partition("(")
        if bracket and name.replace("_", "").replace("-", "").isalnum():
            yield name, {"properties": dict(_arguments(rest))}


def _arguments(text: str) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Each argument up to the closing bracket; what is nested in one is passed over."""
    depth, place, begin = 0, 0, 0
    while place < len(text):
        char = text[place]
        if char == '"':
            place += _quoted(text[place:])[1]
            continue
        if depth == 0 and char in ",)":
            name, _, choices = text[begin:place].partition(": ")
            yield name.strip().rstrip("?").removesuffix("[]"), {"enum": _choices(choices)}
            begin = place + 1
            if char == ")":
                return
        depth += (char in "{(") - (char in "})")
        place += 1


def _choices(text: str) -> list[str]:
    found: list[str] = []
    while text:
        if text.startswith('"'):
            one, end = _quoted(text)
        else:
            one = text.partition("|")[0]
            end = len(one)
        found.append(one)
        text = text[end:].removeprefix("|")
    return found


def _quoted(text: str) -> tuple[str, int]:
    """The text in quotation marks that it begins with, and where that ends."""
    try:
        one, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return text, len(text)
    return str(one), end

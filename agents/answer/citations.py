"""Citations [n]: bound to what an agent was shown, whatever the model wrote.

Numbers are given by the server and are one for an item through a conversation, so that a
specialist's [3] is the orchestrator's [3].
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.contracts import StepRecord

LONGEST_RANGE = 20
DEPTH = 6  # of a tool's result
CITED = ("n", "id", "source", "title")
# `[1]`, `[1, 3]`, `[2-4]`, `【1†source】`, and a link that hangs on one; code is left alone.
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
MARK = re.compile(
    r"(?P<space>[ \t]?)[\[【]\s*(?P<numbers>\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})*)\s*"
    r"(?:†[^\]】\n]{0,80})?[\]】](?:\([^()\s]*\))?"
)
_GONE = "\ue000"  # in place of a citation that stands for nothing
# With the words that only led to it: “It says so in [7] and [8].” becomes “It says so.”
_AND = r"(?:\s*[,&]|\s+(?:and|und|et|y|e|en)(?=\s))"
_BEFORE_ANOTHER = re.compile(rf"(?<!\]){_GONE}{_AND}\s*(?=\[\d)")
_LEFT = re.compile(  # from the first of its blanks only: else each blank reads all that follow
    r"(?<!\s)(?:\s+(?:as in|in|see|per|from|siehe|laut|aus|dans|voir|selon|según|vedi|zie)(?=\s)"
    rf"|{_AND})?\s*{_GONE}(?:{_AND}?\s*{_GONE})*"
)
_RANGE = re.compile(r"(\d{1,3})\s*[\u2013-]\s*(\d{1,3})")


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A text whose every [n] stands for an item. `citations` are those items, by number."""

    text: str
    citations: tuple[Mapping[str, Any], ...] = ()
    removed: tuple[int, ...] = ()


def list_results(steps: Iterable[StepRecord]) -> frozenset[tuple[int, str]]:
    """Number and id of every item that the results of these steps show."""
    return frozenset(
        pair
        for step in steps
        for call in step.calls
        if call.result is not None
        for pair in _numbered(call.result.get("data"), DEPTH)
    )


def _numbered(value: Any, depth: int) -> Iterable[tuple[int, str]]:
    if depth and isinstance(value, Mapping):
        if type(value.get("n")) is int and isinstance(value.get("id"), str):
            yield value["n"], value["id"]
        for inside in value.values():
            yield from _numbered(inside, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for inside in value:
            yield from _numbered(inside, depth - 1)


def list_citable(
    context: Iterable[Mapping[str, Any]], observed: Collection[tuple[int, str]]
) -> dict[int, Mapping[str, Any]]:
    """Of the numbered items of a conversation, those that an agent was shown. A result that
    makes up a number and an id of its own shows nothing."""
    return {item["n"]: item for item in context if (item["n"], item["id"]) in observed}


def has_citations(text: str) -> bool:
    """Whether there is anything to bind."""
    return MARK.search(text) is not None


def bind_citations(text: str, items: Mapping[int, Mapping[str, Any]]) -> Bound:
    """The text without numbers that stand for nothing, and the items that it cites."""
    cited: dict[int, Mapping[str, Any]] = {}
    removed: list[int] = []

    def marked(match: re.Match[str]) -> str:
        numbers = list_numbers(match["numbers"])
        removed.extend(n for n in numbers if n not in items)
        known = [n for n in numbers if n in items]
        cited.update((n, items[n]) for n in known)
        mark = f"[{', '.join(map(str, known))}]" if known else _GONE
        return str(match["space"]) + mark

    def bound(part: str) -> str:
        left = MARK.sub(marked, part.replace(_GONE, ""))
        return _LEFT.sub("", _BEFORE_ANOTHER.sub("", left))

    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [bound(text[end : code.start()]), code[0]]
        end = code.end()
    parts.append(bound(text[end:]))
    return Bound(
        text="".join(parts),
        citations=tuple({key: cited[n].get(key) for key in CITED} for n in sorted(cited)),
        removed=tuple(dict.fromkeys(removed)),
    )


def list_numbers(text: str) -> Sequence[int]:
    """“1, 3-5” as 1, 3, 4, 5. A range that runs backwards, or too far, is its two ends."""
    numbers: list[int] = []
    for part in re.split(r"[,;]", text):
        ends = _RANGE.fullmatch(part.strip())
        if ends is None:
            numbers += [int(n) for n in re.findall(r"\d+", part)]
            continue
        first, last = int(ends[1]), int(ends[2])
        fits = first <= last < first + LONGEST_RANGE
        numbers += range(first, last + 1) if fits else (first, last)
    return list(dict.fromkeys(numbers))

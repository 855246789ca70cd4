"""Where in an item stands what an answer cites: the words that the agent saw, and of these
the part that says what the answer says. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from agents.answer import citations

DEPTH = 6  # of a tool's result
FEW = 400  # characters that are found at a glance
MOST_WORDS = 1000  # of a passage that is looked for
_CUT = re.compile(r"\s*\[…\]\Z")
_PART = re.compile(r"[^\n]+(?:\n(?![^\S\n]*\n)[^\n]+)*")  # up to an empty line
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*\s*")
_WORD = re.compile(r"\w{3,}")

Span = tuple[int, int]


def list_observed(value: Any, item_id: str, depth: int = DEPTH) -> Iterable[str]:
    """The texts of this item that a tool's result shows."""
    if depth and isinstance(value, Mapping):
        if value.get("id") == item_id:
            texts = (value.get("text"), value.get("snippet"))
            yield from (one for one in texts if isinstance(one, str) and one.strip())
        for inside in value.values():
            yield from list_observed(inside, item_id, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for inside in value:
            yield from list_observed(inside, item_id, depth - 1)


def find_claim(answer: str, n: int) -> str:
    """What an answer says where it cites this number: the lines that name it."""
    return "\n".join(
        line
        for line in answer.splitlines()
        for mark in citations.MARK.finditer(line)
        if n in citations.list_numbers(mark["numbers"])
    )


def find_passage(text: str, observed: Iterable[str], claim: str) -> Span | None:
    """Where in the text of an item the cited passage stands, half open; None where nothing that the
    agent saw is in it any more."""
    spans = [span for one in observed if (span := _find(text, one)) is not None]
    if not spans:
        return None
    wanted = frozenset(_words(claim))
    return max(
        (_narrow(text, span, wanted) for span in spans), key=lambda one: (one[1], -_long(one[0]))
    )[0]


def _find(text: str, observed: str) -> Span | None:
    """The text as the agent saw it: cut, or on one line."""
    words = _CUT.sub("", observed).split()[:MOST_WORDS]
    if not words:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    return found.span() if found else None


def _narrow(text: str, span: Span, wanted: frozenset[str]) -> tuple[Span, int]:
    """The part of a long passage that has most of the wanted words, and how many it has."""
    start, end = span
    score = len(wanted & set(_words(text[start:end])))
    if end - start <= FEW or not score:
        return span, score
    for parts in (_PART, _SENTENCE):
        best = max(
            (found.span() for found in parts.finditer(text, *span)),
            key=lambda one: (len(wanted & set(_words(text[slice(*one)]))), -_long(one)),
        )
        span = best
        if _long(span) <= FEW:
            break
    return span, score


def _long(span: Span) -> int:
    return span[1] - span[0]


def _words(text: str) -> list[str]:
    return [one.casefold() for one in _WORD.findall(text)]

"""The part of a passage that answers best, and which places of it were looked for. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from knowledge.text.lexemes import Term, places

SNIPPET_CHARS = 240
BEFORE = 60  # characters shown before the first place, so that it can be understood
# PostgreSQL marks the words whose stems fit with these; no stored text holds them.
START, STOP = "\x02", "\x03"
_MARK = re.compile(f"[{START}{STOP}]")
_SPACE = re.compile(r"\s")

Places = tuple[tuple[int, int], ...]


def snippet(text: str, marked: str, terms: Sequence[Term]) -> tuple[str, Places]:
    """At most 240 characters of `text` on one line, where most of what was looked for stands,
    and its places in them as half-open ranges. It is text, to be escaped like any other.

    `marked` is the same text with marks of PostgreSQL; where it is not, it is left aside.
    """
    found = _joined((*_marks(text, marked), *places(text, terms)))
    start = _start(text, found)
    end = min(len(text), start + SNIPPET_CHARS)
    if end < len(text):
        end = text.rfind(" ", start + SNIPPET_CHARS // 2, end) + 1 or end
    inside = tuple((a - start, b - start) for a, b in found if a >= start and b <= end)
    return _SPACE.sub(" ", text[start:end]), inside


def cut(text: str, places: Places) -> list[tuple[str, bool]]:
    """A snippet in parts, and whether each was looked for: nobody has to count characters."""
    parts, begin = [], 0
    for start, end in places:
        parts += [(text[begin:start], False), (text[start:end], True)]
        begin = end
    return [(part, found) for part, found in (*parts, (text[begin:], False)) if part]


def _marks(text: str, marked: str) -> list[tuple[int, int]]:
    if _MARK.sub("", marked) != text:
        return []
    found: list[tuple[int, int]] = []
    place = begin = 0
    for piece in re.split(f"([{START}{STOP}])", marked):
        if piece == START:
            begin = place
        elif piece == STOP:
            found.append((begin, place))
        else:
            place += len(piece)
    return found


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _start(text: str, found: Sequence[tuple[int, int]]) -> int:
    """Before the place that most others follow closely; the first of several."""

    if not found:
        return 0
    starts = [start for start, _ in found]

    def following(at: int) -> int:
        return bisect_right(starts, starts[at] + SNIPPET_CHARS - BEFORE) - at

    best = starts[max(range(len(starts)), key=lambda at: (following(at), -at))]
    if best <= BEFORE:
        return 0
    return text.find(" ", best - BEFORE, best) + 1 or best - BEFORE

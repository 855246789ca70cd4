"""What differs between two texts, line by line, as admin pages show it. Pure."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a comparison."""

    kind: Literal["same", "added", "removed"]
    text: str


def compared(before: Sequence[str], after: Sequence[str]) -> Iterator[Line]:
    """The lines of both, in order."""
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for operation, a, b, c, d in matcher.get_opcodes():
        if operation == "equal":
            yield from (Line(kind="same", text=text) for text in before[a:b])
        else:
            yield from (Line(kind="removed", text=text) for text in before[a:b])
            yield from (Line(kind="added", text=text) for text in after[c:d])

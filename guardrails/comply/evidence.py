"""The map of evidence (docs/evidence.md) as a value: which control is shown by which command, and
what it does not show. The document is the one source, which CI runs every command of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

SOURCE = Path("docs/evidence.md")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
SINCE = re.compile(r"(?<=--since )\d{4}-\d\d-\d\d")
UNTIL = re.compile(r"(?<=--until )\d{4}-\d\d-\d\d")


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one or more commands show. `rows` are control, what is shown and what is not."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    commands: tuple[str, ...]


def load_map(*, since: str, until: str) -> tuple[Part, ...]:
    """The parts in order, with these days (`2026-11-01`; `until` is not in it) in their commands.
    Empty where this installation does not have the document."""
    try:
        text = (settings.BASE_DIR / SOURCE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    return tuple(_read(part, since, until) for part in text.split("\n## ")[1:])


def _read(part: str, since: str, until: str) -> Part:
    title, *lines = part.splitlines()
    rows = (tuple(_plain(cell) for cell in _cells(line)) for line in lines if line[:1] == "|")
    _, _, *controls = rows  # below the heads and their line
    commands = (line.strip() for line in lines if line.startswith("    "))
    return Part(
        title=title.strip(),
        rows=tuple(controls),
        commands=tuple(UNTIL.sub(until, SINCE.sub(since, one)) for one in commands),
    )


def _cells(line: str) -> Iterator[str]:
    return (cell.strip() for cell in line.strip().strip("|").split("|"))


def _plain(text: str) -> str:
    """Without the document's links, which lead to other documents, and its marks of code."""
    return LINK.sub(r"\1", text).replace("`", "")

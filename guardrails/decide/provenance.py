"""Where each argument's value comes from, found by the guard's own look-ups. Pure.

U  the user typed it in this request, as a whole token or by its value (guardrails.words); what
   they quoted is not theirs
A  an operator listed it
N  the user typed a name in this request that means exactly one person, whose address this is
C  a colleague in the organisation's directory, and the allowed action lets in such
D  the user has sent mail to it before; being known, or having written to the user, is nothing
T  it takes part in the thread that set this off, sender authenticated; or is that mail itself
O  a field of something the user owns and named exactly
V  follows from what the user typed or named: the subject of a reply, the end of a moved event
R  created in this run
X  everything else: bodies, names in text, tool results, stored text, the model's own words

Several can hold for one value; the first of them in this order is the one that is recorded.
"""

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, Literal

from guardrails.contracts import Trigger

Provenance = Literal["U", "A", "N", "C", "D", "T", "O", "V", "R", "X"]

STRENGTH: tuple[Provenance, ...] = ("U", "A", "N", "C", "D", "T", "O", "V", "R", "X")
IN_WORDS: Mapping[str, str] = {
    "U": "typed by the user in this request",
    "A": "listed by an operator",
    "N": "named by the user in this request",
    "C": "a colleague in the organisation's directory",
    "D": "the user has written to it before",
    "T": "takes part in this mail thread, sender authenticated",
    "O": "part of something the user owns and named",
    "V": "follows from what the user typed or named",
    "R": "created in this run",
    "X": "written by the agent or found in content",
}
# How a receiver stands to the user. Nobody who stands in no relation is ever let in for free.
Relation = Literal[
    "typed", "named", "own_domain", "corresponded", "thread_participant", "directory", "listed"
]
RELATIONS: Mapping[Provenance, Relation] = {
    "U": "typed",
    "A": "listed",
    "N": "named",
    "D": "corresponded",
    "T": "thread_participant",
}
# What a value may come from, by what set the action off. Whatever else is found is X.
SOURCES: Mapping[Trigger, frozenset[Provenance]] = {
    "chat": frozenset(STRENGTH),
    "operator": frozenset(STRENGTH),
    "schedule": frozenset({"A", "C", "D"}),
    "mcp": frozenset({"A", "C", "D"}),  # an outside agent has no words of the user's
    "webhook": frozenset({"A", "T"}),
    "pattern": frozenset({"A", "T"}),
}
# Nobody else chose it: no question because of it.
THE_USERS: frozenset[Provenance] = frozenset({"U", "V"})
UNKNOWN: frozenset[Provenance] = frozenset({"X"})
QUOTING = (">", "|", "\uff1e")
ANNOUNCED = re.compile(
    r"\s*(?:-{2,}.*(?:original|forwarded|message)|on .{5,200} wrote:\s*$)", re.IGNORECASE
)
HEADER = re.compile(r"\s*\**(from|to|cc|sent|date|subject|reply-to)\**:", re.IGNORECASE)
OPENING = frozenset("<([{\"'“\u2018,;:=")
QUOTES = ("“”", "„“", "«»", "‘’", '""', "''", "``")  # noqa: RUF001
CLOSING = frozenset(">)]}\"'”\u2019,;:!?")


def own_words(text: str) -> str:
    """What the user typed themselves, without what they quoted or pasted of a mail: quoted
    lines, and everything from a mail's headers or a line that announces it on."""
    matching: list[str] = []
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if (
            (":" in line or "--" in line)
            and (  # or else it is neither, and this is quicker
                ANNOUNCED.match(line) or _begins_a_mail(lines[at : at + 4])
            )
        ):
            break
        if not line.lstrip().startswith(QUOTING):
            matching.append(line)
    return "\n".join(matching)


def _begins_a_mail(lines: Sequence[str]) -> bool:
    """Whether the headers of a mail begin here, its sender among them."""
    headers = [found[1].lower() for line in lines if (found := HEADER.match(line))]
    return bool(HEADER.match(lines[0])) and len(headers) > 1 and bool({"from", "sent"} & {*headers})


def typed(value: str, words: str) -> bool:
    """Whether the user typed exactly this value, as a whole token. `bob@a.com` is not typed
    in `bob@a.com.evil.com`, nor in `notbob@a.com`."""
    start = words.find(value) if value else -1
    while start >= 0:
        end = start + len(value)
        if _opens(words[:start]) and _closes(words[end:]):
            return True
        start = words.find(value, start + 1)
    return False


def named(title: str, words: str) -> bool:
    """Whether the user typed exactly this title. A title of one or two words counts only in
    quotation marks: somebody who calls something “the report” would be named by chance."""
    whole = len(title.split()) >= 3 or any(f"{pair[0]}{title}{pair[1]}" in words for pair in QUOTES)
    return whole and typed(title, words)


def _opens(before: str) -> bool:
    return not before or before[-1].isspace() or before[-1] in OPENING


def _closes(after: str) -> bool:
    # A full stop ends a sentence only when nothing follows it.
    rest = after.removeprefix(".")
    if not rest or rest[0].isspace():
        return True
    return rest is after and rest[0] in CLOSING


def trace(
    arguments: Mapping[str, Any],
    *,
    trigger: Trigger,
    words: str,
    proved: Mapping[Provenance, Set[str]],
    edited: Set[str] = frozenset(),
) -> dict[str, frozenset[Provenance]]:
    """All that each value of the arguments comes from, by path (`to[0]`). `proved` says which
    paths the caller's look-ups found for a source; what the user typed is found here. `edited`
    are the paths that a person filled in by hand, which counts whatever began it."""
    permitted = SOURCES[trigger]
    counting: dict[str, list[Provenance]] = {}
    for source, paths in proved.items():
        if source in permitted:
            for path in paths:
                counting.setdefault(path, []).append(source)
    heard = words if "U" in permitted else ""
    found: dict[str, frozenset[Provenance]] = {}
    for path, value in values(arguments):
        sources = counting.get(path, [])
        if path in edited or (value in heard and typed(value, heard)):
            sources = [*sources, "U"]
        found[path] = frozenset(("X", *sources)) if sources else UNKNOWN
    return found


def strongest(sources: Set[Provenance]) -> Provenance:
    """The source that is recorded of several."""
    for one in STRENGTH:
        if one in sources:
            return one
    return "X"


def values(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every single value that says something with its path, numbers and truth values as text."""
    found: list[tuple[str, str]] = []
    for name, value in arguments.items():
        _collect(name, value, found)
    return found


def _collect(path: str, value: Any, found: list[tuple[str, str]]) -> None:
    if isinstance(value, str):
        if value:
            found.append((path, value))
    elif isinstance(value, list | tuple):
        for index, one in enumerate(value):
            _collect(f"{path}[{index}]", one, found)
    elif isinstance(value, Mapping):
        for name, one in value.items():
            _collect(f"{path}.{name}", one, found)
    elif value is not None:
        found.append((path, str(value)))

"""Where each argument's value comes from, found by the guard's own look-ups. Pure.

U  the user typed it in this request, as a whole token or by its value (guardrails.words); what
   they quoted is not theirs
A  an operator listed it
N  the user typed a name in this request that means exactly one person, whose address this is
C  a colleague in the organisation's directory, and the allowed action lets in such
D  the user has sent mail to it before; being known, or having written to the user, is nothing
T  it takes part in the thread that set this off, sender authenticated; or is that mail itself
O  a field of something the user owns and named exactly, and who was let into it by them or by
   somebody of their organisation (guardrails.facts.belonging)
V  follows from what the user typed or named: the subject of a reply, the end of a moved event
R  created in this run
X  everything else: bodies, names in text, tool results, stored text, the model's own words

Several can hold for one value; the first of them in this order is the one that is recorded.
"""

from collections.abc import Iterable, Mapping, Set
from typing import Any, Literal

from guardrails.contracts import Trigger
from guardrails.words.typed import typed

Provenance = Literal["U", "A", "N", "C", "D", "T", "O", "V", "R", "X"]

STRENGTH: tuple[Provenance, ...] = ("U", "A", "N", "C", "D", "T", "O", "V", "R", "X")
IN_WORDS: Mapping[str, str] = {
    "U": "typed by the user in this request",
    "A": "on the list of what is permitted",
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
    "typed",
    "named",
    "own_domain",
    "corresponded",
    "thread_participant",
    "belongs",
    "directory",
    "listed",
]
RELATIONS: Mapping[Provenance, Relation] = {
    "U": "typed",
    "A": "listed",
    "N": "named",
    "D": "corresponded",
    "T": "thread_participant",
    "O": "belongs",
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
# The user spoke of it themselves.
SPOKEN: frozenset[Provenance] = frozenset({"U", "N"})
# Nobody else chose it: no question because of it.
THE_USERS: frozenset[Provenance] = frozenset({"U", "V"})
UNKNOWN: frozenset[Provenance] = frozenset({"X"})
SEQUENCES = (list, tuple)


def trace(
    values: Iterable[tuple[str, str]],
    *,
    trigger: Trigger,
    words: str,
    proved: Mapping[Provenance, Set[str]],
    edited: Set[str] = frozenset(),
) -> dict[str, frozenset[Provenance]]:
    """All that each of the values comes from, by path (`to[0]`). `proved` says which paths the
    caller's look-ups found for a source; what the user typed is found here. `edited`
    are the paths that a person filled in by hand, which counts whatever began it."""
    permitted = SOURCES[trigger]
    counting: dict[str, list[Provenance]] = {}
    for source, paths in proved.items():
        if source in permitted:
            for path in paths:
                counting.setdefault(path, []).append(source)
    heard = words if "U" in permitted else ""
    found: dict[str, frozenset[Provenance]] = {}
    for path, value in values:
        sources = counting.get(path, [])
        if path in edited or typed(value, heard):
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
    if value is None:
        return
    if isinstance(value, str):
        if value:
            found.append((path, value))
    elif isinstance(value, SEQUENCES):
        for index, one in enumerate(value):
            _collect(f"{path}[{index}]", one, found)
    elif isinstance(value, Mapping):
        for name, one in value.items():
            _collect(f"{path}.{name}", one, found)
    else:
        found.append((path, str(value)))


def typed_paths(arguments: Mapping[str, Any], *, proposed: Mapping[str, Any]) -> frozenset[str]:
    """The paths (`to[0]`) of the values that the agent had not proposed for this argument:
    a person typed them before they confirmed it. Both are canonical arguments of one action."""
    found = set()
    for name, value in arguments.items():
        before = proposed.get(name)
        if isinstance(value, list | tuple):
            known = before if isinstance(before, list | tuple) else ()
            found |= {f"{name}[{at}]" for at, item in enumerate(value) if item not in known}
        elif isinstance(value, Mapping):
            leaves = set(values({name: before})) if isinstance(before, Mapping) else set()
            found |= {path for path, text in values({name: value}) if (path, text) not in leaves}
        elif value != before:
            found.add(name)
    return frozenset(found)

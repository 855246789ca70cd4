"""Where each argument's value comes from, found by the guard's own look-ups. Pure.

U  the user typed it in this request, as a whole token
A  an operator listed it
T  a participant of the mail's thread whose sender is authenticated, or the inbound item itself
X  everything else: bodies, names in text, tool results, the model's own words
"""

from collections.abc import Iterator, Mapping, Set
from typing import Any, Literal

Provenance = Literal["U", "A", "T", "X"]

IN_WORDS: Mapping[str, str] = {
    "U": "typed by the user in this request",
    "A": "listed by an operator",
    "T": "takes part in this mail thread, sender authenticated",
    "X": "written by the agent or found in content",
}
OPENING = frozenset("<([{\"'“\u2018,;:=")
CLOSING = frozenset(">)]}\"'”\u2019,;:!?")


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
    words: str,
    listed: Set[str],
    authenticated: Set[str],
    typed_paths: Set[str] = frozenset(),
) -> dict[str, Provenance]:
    """The provenance of every text in the arguments, by path (`to[0]`).

    `listed` and `authenticated` are paths, found by the caller; they outrank the user's
    words, because they are checked against a list and not against a sentence. `typed_paths`
    are those that a person filled in themselves.
    """
    return {
        path: "A"
        if path in listed
        else "T"
        if path in authenticated
        else "U"
        if path in typed_paths or typed(value, words)
        else "X"
        for path, value in _texts(arguments)
        if value
    }


def _texts(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in arguments.items():
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, list | tuple):
            for index, item in enumerate(value):
                yield f"{name}[{index}]", str(item)

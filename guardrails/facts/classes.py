"""What each argument of an action is, declared by its type. Pure.

object  what the action is done to: `Action.object_field` names it
target  decides where it goes: `Action.targets` returns it
text    words that somebody else would read: bodies, subjects, titles, names, places
time    when something is
number  how much or how many
choice  one of a few values that the schema lists
flag    yes or no

An argument without exactly one class refuses the action.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints

from pydantic import BaseModel

ArgumentClass = Literal["object", "target", "text", "time", "number", "choice", "flag"]
# What somebody must have made up: the user, or else the agent.
WRITTEN: frozenset[ArgumentClass | None] = frozenset({"text", "time", "number"})


@dataclass(frozen=True)
class Is:
    """The class of an argument, in the metadata of its type."""

    argument_class: ArgumentClass


def classes(model: type[BaseModel]) -> Mapping[str, ArgumentClass | None]:
    """The class of every argument; None for one that has none, or several."""
    hints = get_type_hints(model, include_extras=True)
    found: dict[str, ArgumentClass | None] = {}
    for name in model.model_fields:
        declared = set(_declared(hints[name]))
        found[name] = declared.pop() if len(declared) == 1 else None
    return found


def _declared(annotation: Any) -> Iterator[ArgumentClass]:
    for part in getattr(annotation, "__metadata__", ()):
        if isinstance(part, Is):
            yield part.argument_class
    for inner in get_args(annotation):
        yield from _declared(inner)

"""What became of a write, as far as its provider can tell, and what a provider can prove at all.
Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

# What makes a second call under the same key harmless: the provider knows the key, or it refuses
# because the object has changed by then. Otherwise nothing does.
Repeat = Literal["by_key", "by_precondition", "never"]
# A: effect and key are one there. B: it keeps what is to be done, and does it once. C: what was
# done is found by search. D: it cannot tell; a person has to look.
Grade = Literal["A", "B", "C", "D"]


@dataclass(frozen=True, kw_only=True)
class Performed:
    """It was done, and this is what the provider answered or would have answered."""

    response: Any
    at: datetime


@dataclass(frozen=True, kw_only=True)
class NotPerformed:
    """Nothing was done and nothing will be: `proof` says how the provider knows."""

    proof: str


@dataclass(frozen=True, kw_only=True)
class CannotTell:
    """It may have been done. Asking before `ask_again_at` tells no more; None: it never will."""

    ask_again_at: datetime | None


Evidence = Performed | NotPerformed | CannotTell


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What Remit can prove at one source.

    `conditional_write`: the provider itself refuses a write to an object that has changed.
    `history`: it tells what was changed, and by whom. `repeat` counts for every operation (method
    of a writer) that `repeats` does not name.
    """

    grade: Grade = "D"
    conditional_write: bool = False
    history: bool = False
    repeat: Repeat = "never"
    repeats: Mapping[str, Repeat] = field(default_factory=dict)

    def repeat_of(self, operation: str) -> Repeat:
        return self.repeats.get(operation, self.repeat)


@dataclass(frozen=True, kw_only=True)
class Ability:
    """Something that can be done at one account, how surely Remit can prove it (A to D), and why.
    Without a grade it cannot be done there."""

    what: str
    grade: str
    why: str

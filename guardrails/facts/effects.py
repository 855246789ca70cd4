"""What an action does beyond the account's own eyes, found from arguments and facts. Pure.

egress       reaches other people, whatever the action is called
destructive  cannot be brought back
concealing   hides something that its owner should see

What has none of these is private: seen by nobody else, and undoable.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import visible

EffectKind = Literal["egress", "destructive", "concealing"]
IN_WORDS: dict[EffectKind, str] = {
    "egress": phrase("Reaches other people"),
    "destructive": phrase("Cannot be undone"),
    "concealing": phrase("Hides something"),
}
IRREVERSIBLE: frozenset[EffectKind] = frozenset({"egress", "destructive"})


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One effect and the facts it follows from, in words."""

    kind: EffectKind
    because: str

    @property
    def sentence(self) -> str:
        return phrase("%(what)s: %(because)s.", what=IN_WORDS[self.kind], because=self.because)


def is_irreversible(effects: Iterable[Effect]) -> bool:
    """Whether somebody else saw it or something is gone, whatever is put back afterwards."""
    return any(effect.kind in IRREVERSIBLE for effect in effects)


def reaching(people: Collection[str], what_they_do: str) -> tuple[Effect, ...]:
    """Egress to people whom no argument names, a template with `%(people)s`; nothing when there are
    none."""
    if not people:
        return ()
    named = visible(", ".join(people))
    return (Effect(kind="egress", because=phrase(what_they_do, people=named)),)


def hiding(facts: Facts) -> tuple[Effect, ...]:
    """Concealing, if the mail at hand warns its owner (`guardrails.facts.alerts`), or nobody looked
    whether it does."""
    if facts.email is None or facts.alert == "":
        return ()
    return (Effect(kind="concealing", because=facts.alert or phrase("the mail may be an alert")),)

"""How much of what a question is about a text holds. Pure.

A concept is one word of the question in all forms it may have: its stem, its English, its parts.
One that few of the texts at hand hold says more than one that all hold.
"""

import math
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from sandbox.offline_model import german
from sandbox.offline_model.language import STOP_WORDS, words
from sandbox.offline_model.rules.ingest import summary
from sandbox.offline_model.transcript import Json, as_text, said_in, sender_of
from sandbox.offline_model.vectors import stem, words_of

LONG = 5  # letters of a stem that may stand inside another word (“option” in “OptionBar”)
LEFT_OUT = STOP_WORDS | german.LITTLE_WORDS


class Text:
    """A text to look in."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stem(word) for word in words_of(self.text))

    @cached_property
    def folded(self) -> str:
        return self.text.casefold()

    @cached_property
    def run_together(self) -> str:
        return re.sub(r"[\W_]+", "", self.folded)


class Concept(NamedTuple):
    """`word` is as it was written, `forms` what stands for it."""

    word: str
    forms: frozenset[str]

    @property
    def is_name(self) -> bool:
        """Written so that nothing else can stand for it: a number, a version, an abbreviation."""
        return self.word.isupper() or not self.word.isalpha()

    def is_in(self, text: Text) -> bool:
        if self.forms & text.stems:
            return True
        if not self.word.isalnum() and self.word.casefold() in text.folded:
            return True
        return any(len(form) >= LONG and form in text.run_together for form in self.forms)


def concepts_of(text: str, *, without: Iterable[str] = ()) -> tuple[Concept, ...]:
    """What a question is about: each word that carries meaning, once."""
    left_out = LEFT_OUT.union(without)
    written = [re.sub(r"['\u2019]s?$", "", word) for word in words(text)]
    plain = [word.casefold() for word in written]
    found: dict[str, Concept] = {}
    for place, bare in enumerate(written):
        if not bare or plain[place] in left_out:
            continue
        for part in parts_of(plain[place]):
            forms = {stem(part)} | {stem(word) for word in words_of(german.in_english(part))}
            if part.endswith("ly"):  # “monthly” is “a month”
                forms.add("day" if part == "daily" else stem(part.removesuffix("ly")))
            # “Red Hat” may be written “RedHat”.
            forms |= {
                plain[n] + plain[n + 1] for n in (place - 1, place) if 0 <= n < len(plain) - 1
            }
            word = bare if part == plain[place] else part
            found.setdefault(part, Concept(word=word, forms=frozenset(forms)))
    return tuple(found.values())


def parts_of(word: str) -> list[str]:
    """“calm-abo” is two words; “timob-12” and “5.1” are one."""
    parts = word.split("-")
    whole = len(parts) == 1 or any(part.isdigit() for part in parts)
    return [word] if whole else [part for part in parts if part and part not in LEFT_OUT]


def weights(
    concepts: Sequence[Concept], texts: Sequence[Text], *, foreign: bool = False
) -> dict[Concept, float]:
    """The rarer in these texts, the more. In a `foreign` language a word that none of them holds
    counts half: they may have another for it."""
    held = {concept: sum(concept.is_in(text) for text in texts) for concept in concepts}
    return {
        concept: math.log(1 + (len(texts) + 1) / (count + 0.5))
        * (0.5 if foreign and not count else 1)
        for concept, count in held.items()
    }


def share(weighed: dict[Concept, float], text: Text, *, nearby: Text | None = None) -> float:
    """From 0 to 1: how much of the concepts' weight is in `text`, or a part of it `nearby`."""
    total = sum(weighed.values())
    if not total:
        return 0.0
    found = 0.0
    for concept, weight in weighed.items():
        if concept.is_in(text):
            found += weight
        elif nearby is not None and concept.is_in(nearby):
            found += NEARBY * weight
    return found / total


NEARBY = 0.7


def item_text(item: Json) -> Text:
    """What is shown of an item in a list, as one text."""
    sender = sender_of(item)
    parts = [as_text(item.get("title")), summary(title=said_in(item), body=said_in(item))]
    parts.append(as_text(item.get("key")))
    parts += [as_text(sender.get("name")), as_text(sender.get("address"))]
    parts += [as_text(item.get(name)) for name in ("assignee", "status", "priority", "location")]
    parts += [as_text(one) for one in item.get("attendees") or () if isinstance(one, str)]
    return Text(" \n".join(filter(None, parts)))

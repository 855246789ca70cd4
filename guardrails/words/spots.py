"""A text cut into numbers, words that mean something here, other words and marks. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from guardrails.words.vocabulary import LONGEST, MEANINGS, STARTS, Meaning, MeaningKind

TOKEN = re.compile(r"\d+|[^\W\d_]+(?:['’.][^\W\d_]+)*|\S")  # noqa: RUF001
ENGLISH_OWNERS = ("'s", "’s")  # noqa: RUF001
MOST_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Spot:
    """A piece of the text. `number` is -1 where it is none; `tight` says that no blank stands
    before it."""

    text: str
    start: int
    end: int
    tight: bool
    number: int = -1
    meanings: tuple[Meaning, ...] = ()

    def means(self, *kinds: MeaningKind) -> tuple[Meaning, ...]:
        if not self.meanings:
            return ()
        return tuple(one for one in self.meanings if one.kind in kinds)

    @property
    def is_word(self) -> bool:
        return self.number < 0 and self.text[0].isalpha()


def spots(text: str) -> list[Spot]:
    """The pieces in their order, the longest phrase that means something being one."""
    return list(_joined(list(_tokens(text))))


def _tokens(text: str) -> Iterator[Spot]:
    end = 0
    for found in TOKEN.finditer(text):
        tight = found.start() == end and end > 0
        end = found.end()
        plain = found[0].casefold().replace("’", "'")  # noqa: RUF001
        number = -1
        if plain.isascii() and plain.isdigit() and len(plain) <= MOST_DIGITS:
            number = int(plain)
        yield Spot(plain, found.start(), end, tight, number)


def _joined(tokens: Sequence[Spot]) -> Iterator[Spot]:
    at = 0
    while at < len(tokens):
        one = tokens[at]
        size = 1
        meanings: tuple[Meaning, ...] = ()
        if one.is_word:
            size, meanings = _longest(tokens, at)
        if not meanings:
            yield one
            at += 1
            continue
        last = tokens[at + size - 1]
        text = " ".join(token.text for token in tokens[at : at + size])
        yield Spot(text, one.start, last.end, one.tight, -1, meanings)
        at += size


def _longest(tokens: Sequence[Spot], at: int) -> tuple[int, tuple[Meaning, ...]]:
    """How many tokens the longest phrase from here has, and what it means."""
    found: tuple[Meaning, ...] = ()
    text, size = "", 1
    if tokens[at].text not in STARTS and not _bare(tokens[at].text) and "'" not in tokens[at].text:
        return 1, ()
    for count, token in enumerate(tokens[at : at + LONGEST], start=1):
        glue = "" if not text or (token.tight and (text[-1] == "-" or token.text == "-")) else " "
        text = f"{text}{glue}{token.text}" if token.text != "." else f"{text}."
        if meanings := MEANINGS.get(text) or (MEANINGS.get(_bare(text)) if count == 1 else None):
            found, size = meanings, count
    return size, found


def _bare(text: str) -> str:
    """“friday's” as “friday”, “l'après” is left; empty for what has no such ending."""
    for ending in ENGLISH_OWNERS:
        if text.endswith(ending):
            return text.removesuffix(ending)
    return ""

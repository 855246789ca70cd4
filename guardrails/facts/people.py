"""The people of an organisation, as far as one decision is about them. Pure."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from guardrails.facts import targets
from integrations.contracts.preferences import check_text
from integrations.mail.text import normalised

Source = Literal["directory", "sent", "sent_before", "self"]
NAME_CHARS = 200
MOST_OTHER_NAMES = 10
FORMULA = "=+-"  # how a cell begins that a spreadsheet runs
SCRIPTS = ("LATIN", "CYRILLIC", "GREEK")  # whose letters resemble each other
# Letters that people leave the stroke or dot of, which are no letters with a mark in Unicode.
PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "\u0131": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody under one plain address, with every name that counts. Who has several addresses has
    the same `key` under each. `source` says who vouches for the names: the organisation's
    directory, or mail that the user sent themselves, of late or before."""

    address: str
    key: str
    names: tuple[str, ...] = ()
    source: Source = "directory"

    def __str__(self) -> str:
        return f"{self.names[0]} <{self.address}>" if self.names else self.address


@dataclass(frozen=True, kw_only=True)
class Directory:
    """What an organisation's directory says about one decision: those of its people whom the
    decision reaches or whom the user's words could mean, whom else the user wrote to and could
    mean, and the organisation's own domains.
    `groups` are the addresses behind which many of them are: no name means one."""

    people: tuple[Person, ...] = ()
    domains: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    def has(self, address: str) -> bool:
        """Whether exactly this address is somebody's in the directory."""
        return any(one.address == address and one.source == "directory" for one in self.people)

    def is_inside(self, address: str) -> bool:
        """Whether this plain address is the organisation's: somebody's in the directory, or at
        exactly one of the domains that an operator listed as its own."""
        return self.has(address) or targets.domain_of(address) in self.domains


def check_name(name: str) -> str:
    """A name in its one spelling. Raises ValueError for what is none: hidden characters, no
    letter, signs of an address, or letters of scripts that resemble each other in one word."""
    found = " ".join(normalised("NFC", check_text(name)).split())
    if len(found) > NAME_CHARS:
        raise ValueError(f"is longer than {NAME_CHARS} characters")
    if not any(map(str.isalpha, found)):
        raise ValueError("has no letter")
    if found.startswith(tuple(FORMULA)) or any(one in found for one in '<>@,;"'):
        raise ValueError("has signs that no name has, such as @, <, a comma or = before it")
    for word in found.split():
        scripts = {unicodedata.name(one, "").partition(" ")[0] for one in word if one.isalpha()}
        if len(scripts.intersection(SCRIPTS)) > 1:
            raise ValueError(f"has letters of two scripts in one word (“{word}”)")
    return found


def spellings(word: str) -> frozenset[str]:
    """How people type one word of a name: without case and accents (Zoë is zoe), and a letter
    with a mark also written out (Müller is muller and mueller). Letters of other scripts or
    widths stay what they are: look-alikes are another word."""
    if word.isascii():
        return frozenset({word.casefold()})
    small = normalised("NFC", word).casefold()
    return frozenset({_bare(small), _bare(small.translate(WRITTEN_OUT))})


def search_words(names: Iterable[str]) -> list[str]:
    """Every spelling of every word of the names, to look people up by."""
    return sorted({one for name in names for word in name.split() for one in spellings(word)})


def _bare(small: str) -> str:
    found, is_latin = [], False
    for one in normalised("NFD", small):
        if unicodedata.combining(one):
            if is_latin:
                continue
        else:
            is_latin = one.isascii() or unicodedata.name(one, "").startswith("LATIN")
        found.append(one)
    return normalised("NFC", "".join(found)).translate(PLAIN)

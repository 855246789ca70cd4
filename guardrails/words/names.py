"""Whom the user's words name, out of the people that the guard looked up. Pure.

A name counts as people write one: whole, a first name or surname, in any case and with or without
accents, also before an apostrophe (“Tom's”, “Ines'”), after a title (“Ms Shah”), and before what
people have in languages whose genitive has no apostrophe (“Toms Urlaub”). Not one within another
word, address, link, file name, quotation or title of an object; nor where a neighbour makes it
somebody else's (“Priya Patel” is not Priya Shah), where it may be an ordinary word (“will”), or
after a “not” or “except”. In doubt nobody is named: then the user is asked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise, product, zip_longest
from typing import NamedTuple

from guardrails.facts.people import Person, spellings
from guardrails.facts.phrases import phrase
from guardrails.facts.text import visible
from guardrails.words.name_words import (
    BUT,
    CALENDAR,
    CAPITALISED,
    DETERMINERS,
    EXCLUDING,
    FUNCTION,
    HAD,
    ORDINARY,
    SELF,
    TITLES,
)
from guardrails.words.typed import QUOTED
from integrations.mail.text import normalised

MOST_WORDS = 6  # of one name
MOST_SHOWN = 5
REACH = 3  # so many words after a “not” are what it denies
APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})
MARKS = "\u0300-\u036f"
TOKEN = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS}]|['-](?=[^\W\d_]))*'?")
GENITIVE = re.compile(rf"[^\W\d_a-z](?:[^\W\d_]|[{MARKS}]|-(?=[^\W\d_])){{2,}}s")
GONE = "\ufffc"  # stands in no name
WINDOW = 40  # characters before a word that say how it begins
BEFORE = re.compile(r"(?:^|[\s(,;:\u2013\u2014]|(?:^|\s)@)$")
AFTER = re.compile(r"(?:$|[\s,;\u2013\u2014]|[.:!?)\u2026]+(?:$|\s))")
BEGINS = re.compile(r"(?:^|[.!?:\u2026\n]|\n\s*(?:[-*\u2022]|\d+[.)]))\s*[(@]*$")


class Mention(NamedTuple):
    """A name as the user typed it, and whom it may mean: several, where it is not clear."""

    text: str
    people: tuple[Person, ...]

    @property
    def is_clear(self) -> bool:
        """Whether it means exactly one person."""
        return len({one.key for one in self.people}) == 1

    @property
    def sentence(self) -> str:
        """Whom the name means, or may mean, for people."""
        if self.people[0].source == "self":
            return phrase("“%(name)s” is the user.", name=visible(self.text))
        first = self.people[:MOST_SHOWN]
        colleagues = [visible(str(one)) for one in first if one.source == "directory"]
        others = [visible(str(one)) for one in first if one.source != "directory"]
        known = (
            [phrase("%(people)s in the directory", people=_or(colleagues))] if colleagues else []
        )
        if others:
            known.append(phrase("%(people)s in mail that the user sent", people=_or(others)))
        more = len(self.people) - MOST_SHOWN
        if more > 0:
            known.append(phrase("%(number)s more", number=more))
        return phrase("“%(name)s” is %(people)s.", name=visible(self.text), people=_or(known))


def _or(people: Sequence[str]) -> str:
    """“A or B or C”."""
    found = people[0]
    for one in people[1:]:
        found = phrase("%(one)s or %(other)s", one=found, other=one)
    return found


class Token(NamedTuple):
    text: str
    start: int
    end: int
    typed: str  # in small letters, with its accents: “à” is not “a”
    spelled: frozenset[str]
    is_capital: bool
    is_possessive: bool
    begins: bool  # a sentence

    def is_one_of(self, words: frozenset[str]) -> bool:
        return self.typed in words


class Run(NamedTuple):
    """Words that stand side by side, and whom they name."""

    at: int
    size: int
    people: tuple[Person, ...]
    is_whole: bool  # first and last name


def mentions(
    words: str, people: Iterable[Person], *, titles: Iterable[str] = ()
) -> tuple[Mention, ...]:
    """Everybody that these words name, each name once, as far as `people` has them. A name that a
    colleague has means nobody else to whom the user has not written of late, but whom it names
    whole. `titles` of objects are no names. Any order of people gives the same."""
    known = sorted(people, key=lambda one: (one.key, one.address, one.names))
    forms = _forms(known)
    if not forms:
        return ()
    text = _own(words, titles)
    tokens = _with_genitives(text, tuple(_tokens(text)), {word for form in forms for word in form})
    found: dict[tuple[str, tuple[Person, ...]], Mention] = {}
    for run in _runs(text, tokens, forms):
        if _counts(run, text, tokens, forms):
            first, last = tokens[run.at], tokens[run.at + run.size - 1]
            said = Mention(text[first.start : last.end], run.people)
            found.setdefault((said.text, said.people), said)
    return tuple(found.values())


def of_self(words: str, address: str) -> Mention | None:
    """Where the user speaks of themself (“assign it to me”); None where they do not."""
    said = next((one.text for one in _tokens(_own(words, ())) if one.is_one_of(SELF)), None)
    user = Person(address=address, key=address, source="self")
    return None if said is None else Mention(said, (user,))


class Named:
    """Mentions, to be found again where they stand: each place is looked at once, however many
    there are."""

    def __init__(self, found: Iterable[Mention]) -> None:
        self._by_text = {said.text: said for said in found}
        self._sizes = sorted({len(text) for text in self._by_text}, reverse=True)

    def at(self, text: str, place: int) -> Iterator[Mention]:
        """Those that stand whole at this place, the longest first."""
        for size in self._sizes:
            said = self._by_text.get(text[place : place + size])
            behind = text[place + size : place + size + 1]
            if said is not None and not (behind.isalnum() or behind == "_"):
                yield said


def words_of(text: str) -> frozenset[str]:
    """Every spelling of every word that could be one of a name's, to look people up by."""
    own = _own(text, ())
    tokens = tuple(_tokens(own))
    read = (*tokens, *_with_genitives(own, tokens, frozenset()))
    return frozenset().union(*(one.spelled for one in read))


def _own(words: str, titles: Iterable[str]) -> str:
    """The words with a sign that is in no name in place of all that is not the user's own."""
    text = words.translate(APOSTROPHES)
    for title in titles:
        plain = title.translate(APOSTROPHES)
        if len(plain.split()) > 1:
            text = text.replace(plain, GONE)
    text = QUOTED.sub(GONE, text)
    return re.sub(r"\S+", lambda found: GONE if _is_link(found[0]) else found[0], text)


def _is_link(word: str) -> bool:
    """Whether it is a link or an address. “@Tom” is none."""
    return "://" in word or "www." in word or "@" in word[1:]


def _tokens(text: str) -> Iterator[Token]:
    """The words that stand by themselves, in their order."""
    shouted = not any(map(str.islower, text))  # then capitals say nothing
    for found in TOKEN.finditer(text):
        before = text[max(0, found.start() - WINDOW) : found.start()]
        if not (BEFORE.search(before) and AFTER.match(text, found.end())):
            continue
        bare = re.sub(r"(?:'s|')$", "", found[0], flags=re.IGNORECASE)
        yield Token(
            text=found[0],
            start=found.start(),
            end=found.end(),
            typed=normalised("NFC", bare).casefold(),
            spelled=spellings(bare),
            is_capital=found[0][0].isupper() and not shouted,
            is_possessive=bare != found[0],
            begins=bool(BEGINS.search(before)),
        )


def _with_genitives(text: str, tokens: Sequence[Token], known: Set[str]) -> tuple[Token, ...]:
    """The words, and “Toms” before a word for what people have as the possessive of Tom, unless it
    is a word of a name that is `known`."""
    return tuple(
        _owner(one)
        if after is not None
        and GENITIVE.fullmatch(one.text)
        and known.isdisjoint(one.spelled)
        and _touch(text, one, after)
        and after.typed.endswith(HAD)
        else one
        for one, after in zip_longest(tokens, tokens[1:])
    )


def _owner(genitive: Token) -> Token:
    name = genitive.text[:-1]
    typed = normalised("NFC", name).casefold()
    return genitive._replace(typed=typed, spelled=spellings(name), is_possessive=True)


Forms = Mapping[tuple[str, ...], Mapping[Person, bool]]


def _forms(people: Sequence[Person]) -> Forms:
    """Every way to write each of the people, with whether it is first and last name."""
    found: dict[tuple[str, ...], dict[Person, bool]] = {}
    for person in people:
        for name in person.names:
            parts = [spellings(word) for word in name.translate(APOSTROPHES).split()][:MOST_WORDS]
            size = len(parts)
            for form in _written(size):
                whole = size > 1 and {0, size - 1} <= {*form} and len(form) in (2, size)
                for spelled in product(*(sorted(parts[at]) for at in form)):
                    if len("".join(spelled)) > 1:  # an initial is nobody's name
                        of_person = found.setdefault(spelled, {})
                        of_person[person] = whole or of_person.get(person, False)
    return found


def _written(size: int) -> set[tuple[int, ...]]:
    """Which words of a name of so many words are written: from its first on, up to its last, or
    these two."""
    first = {tuple(range(end)) for end in range(1, size + 1)}
    last = {tuple(range(start, size)) for start in range(size)}
    return first | last | {(0, size - 1)} if size > 1 else first


def _runs(text: str, tokens: Sequence[Token], forms: Forms) -> Iterator[Run]:
    """The longest names first from left to right, none within another."""
    at, firsts = 0, {form[0] for form in forms}
    while at < len(tokens):
        sizes = range(min(MOST_WORDS, len(tokens) - at), 0, -1)
        begins = not firsts.isdisjoint(tokens[at].spelled)
        found = (_run(text, tokens, at, size, forms) for size in sizes if begins)
        run = next(filter(None, found), None)
        if run:
            yield run
        at += run.size if run else 1


def _run(text: str, tokens: Sequence[Token], at: int, size: int, forms: Forms) -> Run | None:
    part = tokens[at : at + size]
    if any(one.is_possessive for one in part[:-1]):
        return None
    if not all(_touch(text, *pair) for pair in pairwise(part)):
        return None
    found: dict[Person, bool] = {}
    for spelled in product(*(sorted(one.spelled) for one in part)):
        for person, whole in forms.get(spelled, {}).items():
            found[person] = whole or found.get(person, False)
    if any(one.source == "directory" for one in found):
        found = {one: whole for one, whole in found.items() if whole or one.source != "sent_before"}
    people = sorted(found, key=lambda one: (one.source, one.key, one.address, one.names))
    return Run(at, size, tuple(people), all(found.values())) if found else None


def _touch(text: str, one: Token, other: Token) -> bool:
    """Whether only blanks are between two words; after a title also its full stop."""
    between = text[one.end : other.start]
    if one.is_one_of(TITLES):
        between = between.removeprefix(".")
    return bool(between) and not between.strip(" \t")


def _counts(run: Run, text: str, tokens: Sequence[Token], forms: Forms) -> bool:
    """Whether these words name the person here, and not somebody or something else."""
    first, last = tokens[run.at], tokens[run.at + run.size - 1]
    before = tokens[run.at - 1] if run.at else None
    if before and not _touch(text, before, first):
        before = None
    after = tokens[run.at + run.size] if run.at + run.size < len(tokens) else None
    if after and not _touch(text, last, after):
        after = None
    if _is_excluded(run.at, text, tokens):
        return False
    if run.is_whole:
        return True
    titled = before is not None and before.is_one_of(TITLES)
    if not titled and run.size == 1 and not _is_plainly_a_name(first, before, after):
        return False
    follows = after is None or last.is_possessive or _goes_on(last, after, forms)
    return follows and (titled or before is None or not _leads_in(before, forms))


def _is_plainly_a_name(word: Token, before: Token | None, after: Token | None) -> bool:
    """Whether one word by itself is meant as a name."""
    if word.is_one_of(CALENDAR):
        return False
    if word.is_one_of(CAPITALISED):
        return word.is_capital
    if not word.is_one_of(ORDINARY | FUNCTION):
        return True
    if not word.is_capital or word.begins or (before and before.is_one_of(DETERMINERS)):
        return False
    return after is None or word.is_possessive or after.is_one_of(FUNCTION)


def _goes_on(last: Token, after: Token, forms: Forms) -> bool:
    """Whether what follows a name belongs to the sentence, and not to the name."""
    if after.is_one_of(CALENDAR) or after.text == "I":
        return True
    if last.is_capital:
        return not after.is_capital
    return after.is_one_of(FUNCTION)


def _leads_in(before: Token, forms: Forms) -> bool:
    """Whether the word before a name may be part of a longer one."""
    if before.is_possessive or before.is_one_of(CALENDAR | FUNCTION):
        return False
    if before.is_capital and not before.begins:
        return True
    return any((one,) in forms for one in before.spelled)


def _is_excluded(at: int, text: str, tokens: Sequence[Token]) -> bool:
    """Whether a “not” or “except” stands shortly before, in the same part of the sentence."""
    for index in range(at - 1, max(at - REACH, 0) - 1, -1):
        one, following = tokens[index], tokens[index + 1]
        if one.is_one_of(BUT) or set(text[one.end : following.start]) & set(f".!?;:,\n{GONE}"):
            return False
        if one.is_one_of(EXCLUDING) or one.text.lower().endswith("n't"):
            return True
    return False

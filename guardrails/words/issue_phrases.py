"""One phrase that sorts issues out, read word by word: “all of Ines's overdue tasks”. Pure.

It counts only where each of its words is understood, from the word that begins it (“all”, “my”,
“Tom's”) to its end, and where nothing around it takes some of the issues out again.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple

from guardrails.words import issue_words as known, times
from guardrails.words.name_words import BUT, EXCLUDING
from guardrails.words.names import Mention, Named

TOKEN = re.compile(r"(?i)\b[dl]'|[^\W_]+|\S")
BEGIN = re.compile(r"(?<!\w)(?=\w)")
ENDS = frozenset(".!?,;:")
MOST_DAY_WORDS = 4


@dataclass(frozen=True, kw_only=True)
class IssueQuery:
    """What a phrase asks for. Empty fields ask for nothing."""

    phrase: str
    assignee: frozenset[str] = frozenset()  # the addresses of one person
    statuses: frozenset[str] = frozenset()
    type: str = ""
    priority: str = ""
    label: str = ""
    due: frozenset[date] = frozenset()
    overdue: bool = False
    several: bool = False


class Token(NamedTuple):
    """A word or sign in small letters, or a whole name."""

    text: str
    start: int
    end: int
    person: Mention | None = None

    @property
    def is_owner(self) -> bool:
        return self.person is not None and self.text.endswith(("'s", "'"))


class Unclear(Exception):
    """The phrase says two things of one kind, or something that nobody can tell."""


class Phrase:
    """One phrase within the words, read from its noun to both sides."""

    def __init__(
        self, tokens: Sequence[Token], text: str, *, said_at: str, zone: str, own: str
    ) -> None:
        self.tokens, self.text, self.own = tokens, text, own
        self.said_at, self.zone = said_at, zone
        self.found = IssueQuery(phrase="")

    def read(self) -> IssueQuery | None:
        """Raises Unclear."""
        nouns = [at for at, one in enumerate(self.tokens) if is_noun(one.text)]
        if len(nouns) != 1:
            return None
        noun = self.tokens[nouns[0]].text
        kind, several = known.NOUNS.get(noun, ("", True))
        self.found = replace(self.found, type=kind, several=several)
        start = self._left(nouns[0])
        end = self._right(nouns[0] + 1)
        begins = noun in known.EVERYTHING and bool(self.found.assignee)
        if not (begins or (start < nouns[0] and self._begins(start))):
            return None
        if not self._is_whole(start, end):
            return None
        phrase = self.text[self.tokens[start].start : self.tokens[end - 1].end]
        return replace(self.found, phrase=" ".join(phrase.replace("d' ", "d'").split()))

    def _put(self, **values: Any) -> None:
        for name, value in values.items():
            if getattr(self.found, name):
                raise Unclear
            self.found = replace(self.found, **{name: value})

    def _begins(self, at: int) -> bool:
        """Whether this is a word that such a phrase begins with: before any other a name may
        stand that nobody knows, and that would say whose they are."""
        one = self.tokens[at]
        return one.is_owner or one.text in known.ALL | known.MY | known.THE

    def _left(self, noun: int) -> int:
        """From which token on the words before the noun belong to it."""
        end = noun
        while end > 0:
            one, start = self.tokens[end - 1], end - 1
            of_several = self.tokens[noun].text in known.ONE_AS_MANY
            several = one.text in known.SEVERAL or (of_several and one.text in known.SEVERAL_OF)
            if one.is_owner and one.person:
                self._put(assignee=_address_of(one.person))
            elif one.text in known.MY:
                self._put(assignee=frozenset({self.own}))
            elif one.text in known.ALL:
                several = True
            elif one.text == "of":
                if start == 0 or self.tokens[start - 1].text not in known.ALL:
                    return end
            elif one.text not in known.THE:
                start = self._before(end)
                if start == end:
                    return end
            if several:
                self.found = replace(self.found, several=True)
            end = start
        return end

    def _before(self, end: int) -> int:
        """Where what describes the noun before it begins; `end` where nothing does."""
        for size in range(min(known.LONGEST, end), 0, -1):
            phrase = self._words(end - size, end)
            if phrase in known.PRIORITIES:
                self._put(priority=known.PRIORITIES[phrase])
            elif phrase in known.OVERDUE:
                self._put(overdue=True)
            elif phrase in known.STATUSES:
                self._put(statuses=known.STATUSES[phrase])
            else:
                continue
            return end - size
        return end

    def _right(self, start: int) -> int:
        """Up to which token the words behind the noun belong to it."""
        while start < len(self.tokens):
            end = self._behind(start)
            if end == start:
                return end
            start = end
        return start

    def _behind(self, start: int) -> int:
        for size in range(min(known.LONGEST, len(self.tokens) - start), 0, -1):
            end = start + size
            phrase = self._words(start, end)
            person = self.tokens[end].person if end < len(self.tokens) else None
            if phrase in known.OF and person:
                self._put(assignee=_address_of(person))
                return end + 1
            if phrase in known.ASSIGNED and end < len(self.tokens):
                of_self = self.tokens[end].text in known.ME
                if not (person or of_self):
                    raise Unclear
                self._put(assignee=_address_of(person) if person else frozenset({self.own}))
                return end + 1
            if phrase in known.PRIORITIES:
                self._put(priority=known.PRIORITIES[phrase])
            elif phrase in known.OVERDUE:
                self._put(overdue=True)
            elif phrase in known.STATUSES and phrase.partition(" ")[0] not in known.AIMS:
                # “Put Tom's tasks in progress” says what becomes of them.
                self._put(statuses=known.STATUSES[phrase])
            elif phrase in known.LABELLED and end < len(self.tokens):
                return self._label(end)
            elif phrase in known.DUE and (after := self._day(end)) > end:
                return after
            else:
                continue
            return end
        return self._clause(start)

    def _clause(self, start: int) -> int:
        """“that are still in progress”, “die noch offen sind”; `start` where there is none."""
        at = start + (self._words(start, start + 1) == ",")
        if self._words(at, at + 1) not in known.THAT:
            return start
        at += 1
        while self._words(at, at + 1) in known.IS | known.STILL:
            at += 1
        for size in range(min(known.LONGEST, len(self.tokens) - at), 0, -1):
            phrase = self._words(at, at + size)
            if phrase in known.STATUSES:
                self._put(statuses=known.STATUSES[phrase])
            elif phrase in known.OVERDUE:
                self._put(overdue=True)
            elif phrase in known.DUE and (after := self._day(at + size)) > at + size:
                return after
            else:
                continue
            at += size
            return at + (self._words(at, at + 1) in known.IS)
        raise Unclear

    def _label(self, at: int) -> int:
        quoted = self.tokens[at].text in "“„\"«'" and at + 2 < len(self.tokens)
        at += quoted
        if not self.tokens[at].text[0].isalnum():
            raise Unclear
        self._put(label=self.tokens[at].text)
        return at + 1 + quoted

    def _day(self, start: int) -> int:
        """Behind which token a day ends that begins here; `start` where none does."""
        for end in range(start + 1, min(start + MOST_DAY_WORDS, len(self.tokens)) + 1):
            part = self.text[self.tokens[start].start : self.tokens[end - 1].end]
            days = times.days_named(part, said_at=self.said_at, zone=self.zone)
            if len(days) == 1:
                self._put(due=days[0])
                return end
        return start

    def _is_whole(self, start: int, end: int) -> bool:
        """Whether the phrase ends here, and nothing around it leaves some of the issues out."""
        outside = {one.text for one in (*self.tokens[:start], *self.tokens[end:])}
        if outside & (known.LIMITING | EXCLUDING | BUT):
            return False
        behind = self.tokens[end] if end < len(self.tokens) else None
        if behind is None or behind.text in ENDS | known.AND:
            return True
        if behind.person:
            return not behind.is_owner
        if behind.text not in known.AIMS or end + 1 >= len(self.tokens):
            return False
        if self._is_status(end):
            rest = {one.text for one in self.tokens[end + 1 :]}
            puts = {one.text for one in self.tokens[:start]} & known.PUTS
            return bool(puts) and rest.isdisjoint(known.AIMS)
        aim = self.tokens[end + 1]
        return (
            aim.person is not None
            or aim.text in known.ME | known.LEVELS
            or self._is_status(end + 1)
            or self._is_day(end + 1)
        )

    def _is_status(self, at: int) -> bool:
        sizes = range(1, known.LONGEST + 1)
        return any(self._words(at, at + size) in known.STATUSES for size in sizes)

    def _is_day(self, start: int) -> bool:
        last = min(start + MOST_DAY_WORDS, len(self.tokens)) - 1
        part = self.text[self.tokens[start].start : self.tokens[last].end]
        return bool(times.days_named(part, said_at=self.said_at, zone=self.zone))

    def _words(self, start: int, end: int) -> str:
        return " ".join(one.text for one in self.tokens[start:end])


def is_noun(text: str) -> bool:
    """Whether this word, in small letters, is what people call issues."""
    return text in known.NOUNS or text in known.EVERYTHING


def _address_of(said: Mention) -> frozenset[str]:
    """Raises Unclear where the name may mean several people."""
    if not said.is_clear:
        raise Unclear
    return frozenset(one.address for one in said.people)


def tokens_of(text: str, named: Collection[Mention]) -> Iterator[Token]:
    """The words in their order, each name as one of them."""
    names, at = Named(named), 0
    for begin in BEGIN.finditer(text) if named else ():
        start = begin.start()
        said = next(names.at(text, start), None) if start >= at else None
        if said is not None:
            yield from _plain(text, at, start)
            at = start + len(said.text)
            yield Token(said.text.casefold(), start, at, said)
    yield from _plain(text, at, len(text))


def _plain(text: str, start: int, end: int) -> Iterator[Token]:
    for found in TOKEN.finditer(text, start, end):
        if found[0] not in "-\u2013":
            yield Token(found[0].casefold(), found.start(), found.end())

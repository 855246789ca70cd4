"""Which issue the user's words call by its title: “the flaky test bug”, “dark mode”. Pure.

A title is named by its own words in their order: whole, in quotation marks, behind an article, or
beside what people call issues. Whose issue it is, and whether another one is called so too, is the
caller's to look at.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from guardrails.words import issue_words as known
from guardrails.words.issue_phrases import is_noun
from guardrails.words.issue_queries import KEY
from guardrails.words.own import HOLE
from guardrails.words.typed import QUOTES
from integrations.contracts import Issue

WORD = re.compile(r"[^\W_]+|\S")
MOST_WORDS = 8  # of a title as people say it
LEAST_CHARS = 3  # of a single word
MOST_CHARS = 2_000  # of the user's words
BEHIND = frozenset('.!?,;:"”“»') | known.AIMS | known.IS | known.AND | {"goes", "geht", "va"}
SORTING = frozenset().union(
    known.ALL, known.MY, known.THE, known.THAT, known.IS, known.STILL, known.OVERDUE
) | frozenset(known.STATUSES)


class Called(NamedTuple):
    """What an issue is called. `loosely`: words between its own may be left out. An empty `type`
    is any."""

    words: tuple[str, ...]
    phrase: str
    type: str = ""
    loosely: bool = False
    whole: bool = False


def called(words: str, issues: Iterable[Issue]) -> dict[str, str]:
    """The keys of all issues that the words may call by their title, with the phrase that does.
    Nothing where the words hold what was pasted, or an issue's key."""
    if HOLE in words or KEY.search(words):
        return {}
    said = words[:MOST_CHARS]
    names = list(_names(said)) if _is_about_issues(said) else []
    found: dict[str, str] = {}
    for issue in issues:
        title = tuple(one.casefold() for one in WORD.findall(issue.summary) if one[0].isalnum())
        name = next((one for one in names if _calls(one, title, issue.type)), None)
        if name is not None:
            found[issue.key] = name.phrase
    return found


def _calls(name: Called, title: tuple[str, ...], kind: str) -> bool:
    if name.type not in ("", kind) or not title:
        return False
    if name.whole:
        return name.words == title
    if name.loosely:
        rest = iter(title)
        return all(one in rest for one in name.words)
    size = len(name.words)
    return any(title[at : at + size] == name.words for at in range(len(title) - size + 1))


def _names(words: str) -> Iterator[Called]:
    """Everything in the words that an issue may be called by."""
    found = [(one[0].casefold(), *one.span()) for one in WORD.finditer(words)]
    texts = [text for text, _, _ in found]
    for start, end, how in _places(texts):
        said = tuple(one for one in texts[start:end] if one not in "-\u2013")
        if said and all(one[0].isalnum() for one in said):
            phrase = " ".join(words[found[start][1] : found[end - 1][2]].split())
            yield Called(said, phrase, **how)


def _places(texts: Sequence[str]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """From where to where something may be called in these words, and how."""
    for at, text in enumerate(texts):
        for end in range(at + 1, min(at + MOST_WORDS, len(texts)) + 1):
            yield from ((at, end, how) for how in _ways(texts, at, end))
        if text in known.NOUNS and at + 1 < len(texts) and texts[at + 1] in known.ABOUT:
            first = at + 2 + (at + 2 < len(texts) and texts[at + 2] in known.THE)
            end = next(one for one in range(first, len(texts) + 1) if _ends(texts, one))
            if end <= first + MOST_WORDS and not _sorts(texts[first:end]):
                yield first, end, {"type": known.NOUNS[text][0], "loosely": True}


def _ways(texts: Sequence[str], start: int, end: int) -> Iterator[dict[str, Any]]:
    """How these words may call something: as a whole title; behind an article, before what people
    call issues or as the last of their sentence."""
    before, behind = texts[max(start - 1, 0)], texts[end] if end < len(texts) else ""
    if start and f"{before}{behind}" in QUOTES:
        yield {"whole": True}
    ends = end - start > 1 and _ends(texts, end)
    if ends:
        yield {"whole": True}
    if start and before in known.THE and not _sorts(texts[start:end]):
        if behind in known.NOUNS:
            yield {"type": known.NOUNS[behind][0], "loosely": True}
        elif ends:
            yield {}


def _ends(texts: Sequence[str], at: int) -> bool:
    """Whether what somebody calls an issue may end before this word. “In” is part of many titles,
    and so it ends one only where a status follows."""
    if at >= len(texts):
        return True
    if texts[at] in ("in", "en"):
        return any(" ".join(texts[at : at + size]) in known.STATUSES for size in (2, 3))
    return texts[at] in BEHIND


def _is_about_issues(words: str) -> bool:
    """Whether the words speak of issues at all: a document may have the same title."""
    texts = [one[0].casefold() for one in WORD.finditer(words)]
    if any(is_noun(one) or one in known.ABOUT_ISSUES for one in texts):
        return True
    plain = f" {' '.join(texts)} "
    return any(f" {one} " in plain for one in (*known.STATUSES, *known.PRIORITIES))


def _sorts(words: Sequence[str]) -> bool:
    """Whether these words sort issues and name none, or are too short to name one."""
    return all(one in SORTING or len(one) < LEAST_CHARS for one in words)

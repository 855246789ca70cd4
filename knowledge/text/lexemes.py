"""A text as full text search keeps it, and words as it is asked for them. Pure.

Every word is kept as it is written, in lower case and without accents, so that each is found
whatever its language. PostgreSQL adds the stems of the languages that it knows
(`knowledge.ingest.indexing`). Where words are not set apart by blanks, or endings stick to them
(Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese), every two neighbouring characters are kept.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from integrations.mail.text import normalised
from knowledge.text.languages import UNKNOWN, language_of

MAX_WORD = 200
MIN_JOINED = 5  # characters of two words in one
# A search column holds one MiB. These many bytes of words as they are, and of text to be
# stemmed, fit together, whatever they are.
MAX_BYTES = 400_000
MAX_STEMMED_BYTES = 200_000
PIECE_CHARS = 2_000
MAX_LANGUAGES = 4
_MAX_PLACE = 16_383  # as PostgreSQL counts places
_MAX_PLACES = 255  # of one word

_MARKS = "".join(
    chr(code) for code in range(0x300, 0x1_1000) if unicodedata.category(chr(code))[0] == "M"
)
_WORD = re.compile(rf"(?:[^\W_]|[{_MARKS}])+")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_PARTS = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
# й is a letter, no accented и. The marks of Arabic and Hebrew are vowels that are seldom written.
_ACCENTS = re.compile("(?<![\u0400-\u04ff])[\u0300-\u036f]+|[\u0591-\u05c7\u064b-\u065f\u0670]+")
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "þ": "th", "ё": "е"}
)
_ENDING = re.compile("[\u3041-\u309f]{2}")  # what Japanese sentences consist of besides words
_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n")


@dataclass(frozen=True, kw_only=True)
class Term:
    """One word that is looked for: as it is kept, and as it was written (for stemming). `joined`
    are it and a neighbour in one word, because people write “Red Hat” and “RedHat”."""

    plain: str
    written: str
    joined: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.written

    @cached_property
    def forms(self) -> list[tuple[str, bool]]:
        """What it is found by, and whether as a beginning: a long word, and a single character of
        Chinese and the like."""
        begins = len(self.plain) > 3 or (len(self.plain) == 1 and not self.plain.isascii())
        alone = [(form, begins) for form in dict.fromkeys((self.plain, self.written))]
        return [*alone, *((form, True) for form in self.joined)]

    @property
    def tsquery(self) -> str:
        """It as a tsquery of words as they are."""
        return _tsquery(self.forms)


@dataclass(frozen=True, kw_only=True)
class Indexed:
    """What is kept of one item. `plain` is the text of a tsvector; `stemmed` are texts to stem:
    a language, a weight (A to C), the text. `languages`: the most frequent first."""

    plain: str
    stemmed: tuple[tuple[str, str, str], ...]
    languages: tuple[str, ...]


def plain(word: str) -> str:
    """`word` (in lower case) without accents."""
    if word.isascii():
        return word
    bare = _ACCENTS.sub("", normalised("NFD", word))
    return normalised("NFC", bare).translate(_LETTERS)


def words(text: str) -> Iterator[str]:
    """The words of `text` in order, in lower case, at most 200 characters of each."""
    if not text.isascii():
        text = normalised("NFKC", text)
    for word in _WORD.findall(text.lower()):
        yield word[:MAX_WORD]


def terms(text: str) -> tuple[Term, ...]:
    """What a search for `text` looks for, each once, in order."""
    found: dict[str, Term] = {}
    for word in words(text):
        for part in _parts(word):
            for form in _pairs(part) if _HAS_UNSPACED.match(part) else (part,):
                if bare := plain(form):
                    found.setdefault(bare, Term(plain=bare, written=form))
    telling = [term for term in found.values() if not _ENDING.fullmatch(term.plain)]
    return tuple(telling or found.values())


def find_any(terms: Iterable[Term]) -> str | None:
    """The shortest tsquery of what holds any of these words as they are; None: of nothing."""
    found: list[tuple[str, bool]] = []
    covered = None
    forms = {form for term in terms for form in term.forms}
    for form, begins in sorted(forms, key=lambda one: (one[0], not one[1])):
        if covered is None or not form.startswith(covered):
            found.append((form, begins))
            covered = form if begins else covered
    return _tsquery(found) or None


def join_neighbours(terms: Sequence[Term]) -> tuple[Term, ...]:
    """These words, in the order of a text, each also as one word with the one beside it."""
    pairs = ["", *(_joined(before, after) for before, after in pairwise(terms)), ""]
    return tuple(
        Term(
            plain=term.plain,
            written=term.written,
            joined=tuple(filter(None, pairs[place : place + 2])),
        )
        for place, term in enumerate(terms)
    )


def _tsquery(forms: Iterable[tuple[str, bool]]) -> str:
    return " | ".join(f"'{form}':*" if begins else f"'{form}'" for form, begins in forms)


def _joined(before: Term, after: Term) -> str:
    word = before.plain + after.plain
    return "" if len(word) < MIN_JOINED or _HAS_UNSPACED.search(word) else word


def places(text: str, terms: Iterable[Term]) -> Iterator[tuple[int, int]]:
    """Where in `text` these stand as they are written; a long one also as a beginning."""
    if text.isascii():
        yield from _find(text.lower(), terms)
        return
    whole = {term.plain for term in terms}
    long_words = tuple(term.plain for term in terms if len(term.plain) > 3)
    pairs = [plain for plain in whole if _HAS_UNSPACED.match(plain)]
    for word in _WORD.finditer(text):
        bare = word.group().lower()
        if not bare.isascii():
            bare = plain(normalised("NFKC", bare))
        if bare in whole or (long_words and bare.startswith(long_words)):
            yield word.span()
    for pair in pairs:
        start = text.find(pair)
        while start >= 0:
            yield start, start + len(pair)
            start = text.find(pair, start + 1)


def _find(text: str, terms: Iterable[Term]) -> Iterator[tuple[int, int]]:
    """The same in lower case and ASCII: where each word is looked for, not each of the text."""
    for term in terms:
        start = text.find(term.plain)
        while start >= 0:
            length = len(term.plain)
            word = _WORD.match(text, start)
            end = word.end() if word else start + length
            begins = start == 0 or not _WORD.match(text, start - 1)
            if begins and (length > 3 or end - start == length):
                yield start, end
            start = text.find(term.plain, end)


def indexed(*, title: str, summary: str, text: str, people: str = "", facts: str = "") -> Indexed:
    """What search keeps of an item with these texts. The language is found for each piece of
    the text by itself, because people quote, translate and attach. Names of people weigh as
    much as the summary, and what else its source says of it less than its text; neither is
    stemmed."""
    pieces = list(_pieces(text))
    spoken = [language_of(piece) for piece in pieces]
    languages = dict.fromkeys(sorted(set(spoken), key=spoken.count, reverse=True))
    languages.pop(UNKNOWN, None)
    first = next((one for one in spoken if one != UNKNOWN), UNKNOWN)
    of_title, of_summary = language_of(title), language_of(summary)
    parts = [
        (first if of_title == UNKNOWN else of_title, "A", title),
        (first if of_summary == UNKNOWN else of_summary, "B", summary),
        *((language, "C", piece) for language, piece in zip(spoken, pieces, strict=True)),
    ]
    described = (("B", people), ("D", facts))  # D is of nothing else (`indexed_facts`)
    known = (*languages, *(language for language, _, _ in parts[:2]))
    stemmable = tuple(dict.fromkeys(one for one in known if one != UNKNOWN))[:MAX_LANGUAGES]
    return Indexed(
        plain=_plain([*described, *((weight, part) for _, weight, part in parts)]),
        stemmed=tuple(_stemmed(parts, stemmable)),
        languages=stemmable,
    )


def indexed_facts(facts: str) -> str:
    """What search keeps of what its source says of an item, by itself: the text of a tsvector."""
    return _plain([("D", facts)])


def _parts(word: str) -> Iterable[str]:
    return _PARTS.findall(word) if _HAS_UNSPACED.search(word) else (word,)


def _pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(len(run) - 1)] or [run]


def _plain(parts: Iterable[tuple[str, str]]) -> str:
    places: dict[str, list[str]] = {}
    place = size = 0
    for weight, text in parts:
        for word in words(text):
            for part in _parts(word):
                # The last character by itself too: every single one is the beginning of something.
                unspaced = _HAS_UNSPACED.match(part) and len(part) > 1
                for form in (*_pairs(part), part[-1]) if unspaced else (part,):
                    bare = plain(form)
                    if not bare:
                        continue
                    place += 1
                    if bare not in places:
                        size += len(bare.encode()) + 8
                        if size > MAX_BYTES:
                            continue
                        places[bare] = []
                    if len(places[bare]) < _MAX_PLACES and size < MAX_BYTES:
                        size += 2
                        places[bare].append(f"{min(place, _MAX_PLACE)}{weight}")
    return " ".join(f"'{word}':{','.join(at)}" for word, at in places.items() if at)


def _stemmed(
    parts: Iterable[tuple[str, str, str]], languages: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    """One text for each language and weight, cut where there is too much of all."""
    texts: dict[tuple[str, str], list[str]] = {}
    size = 0
    for language, weight, text in parts:
        if language in languages:
            written = " ".join(words(text))
            size += len(written.encode()) + 1
            if size > MAX_STEMMED_BYTES:
                break
            texts.setdefault((language, weight), []).append(written)
    for (language, weight), written_texts in texts.items():
        yield language, weight, " ".join(written_texts)


def _pieces(text: str) -> Iterator[str]:
    """`text` in pieces of whole paragraphs, or of about 2,000 characters of a long one."""
    piece = ""
    for paragraph in _PARAGRAPHS.split(text):
        if piece and len(piece) + len(paragraph) > PIECE_CHARS:
            yield piece
            piece = ""
        start = 0
        while len(paragraph) - start > 2 * PIECE_CHARS:
            least, most = start + PIECE_CHARS, start + 2 * PIECE_CHARS
            end = paragraph.rfind(" ", least, most) + 1 or least
            yield paragraph[start:end]
            start = end
        rest = paragraph[start:]
        piece = f"{piece}\n\n{rest}" if piece else rest
    if piece.strip():
        yield piece

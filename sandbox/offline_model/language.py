"""Words, sentences and quoting for the rules (pure). Every pattern is linear in its text."""

import re
from collections.abc import Iterable, Sequence


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = word_set(
    """
    a about above after again all also am an and any are as at be because been before being
    below between both but by can could did do does doing down during each few for from further
    had has have having he her here hers him his how i if in into is it its just let may me
    might more most must my no nor not now of off on once only or other our out over own please
    same shall she should so some such than that the their them then there these they this
    those through to too under until up us very was we were what when where which while who
    whom whose why will with would you your yours
    """
)
GREETINGS = ("hi", "hello", "hey", "dear", "good morning", "good afternoon", "hej", "hallo")
CLOSINGS = (
    "best regards", "kind regards", "regards", "best wishes", "best", "cheers", "sincerely",
    "yours", "thanks", "many thanks", "thank you", "mit freundlichen grüßen", "viele grüße",
    "med vänlig hälsning", "vänliga hälsningar", "hälsningar",
)  # fmt: skip
ADDRESS = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]{0,250}\.[A-Za-z]{2,24}")
_WORD = re.compile(r"\w[\w'\u2019@.+/-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_LIST_MARK = re.compile(r"(?:[-*\u2022\u2013]|\(?\d{1,3}[.)])\s+")
_QUOTE_INTRODUCTION = re.compile(
    r"(?:on|den|am)\s.{0,200}\s(?:wrote|skrev|schrieb).{0,100}:", re.IGNORECASE
)
_HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_SPACE = re.compile(r"\s+")
BRACKETS = str.maketrans("[]<>", "()()")


def words(text: str) -> list[str]:
    """The words as they are written, without the punctuation around them."""
    return [word.rstrip(".'\u2019-/+") for word in _WORD.findall(text)]


def content_words(text: str, *, without: Iterable[str] = ()) -> list[str]:
    """The words that carry meaning, as they are written, possessive endings taken off."""
    left_out = STOP_WORDS.union(without)
    bare = (re.sub(r"['\u2019]s?$", "", word) for word in words(text))
    return [word for word in bare if word and word.casefold() not in left_out]


def one_line(text: str) -> str:
    """Text as one line: no control, zero-width or direction characters."""
    return _SPACE.sub(" ", _HIDDEN.sub(" ", text)).strip()


def quoted(text: str, *, limit: int = 200) -> str:
    """A stranger's text for use in an answer: one line, no brackets that pass for a
    citation, a link or markup, at most `limit` characters."""
    return shortened(one_line(text).translate(BRACKETS), limit=limit)


def shortened(text: str, *, limit: int) -> str:
    """At most `limit` characters, cut between words, with an ellipsis where it was cut."""
    if len(text) <= limit:
        return text
    start = text[: limit - 1]
    end = start.rfind(" ") if " " in start[limit // 2 :] else len(start)
    return start[:end].rstrip() + "…"


def listed(parts: Sequence[str]) -> str:
    """“a”, “a and b”, “a, b and c”."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def fresh_text(text: str) -> str:
    """What the writer of a mail wrote now: no quoted lines, earlier mails or signature."""
    lines_left: list[str] = []
    for line in text.splitlines():
        bare = line.strip()
        if line.rstrip("\r") in ("-- ", "--") or bare.startswith(("-----Original", "________")):
            break
        if _QUOTE_INTRODUCTION.fullmatch(bare[:400]):
            break
        if bare.rstrip(",.! ").casefold() in CLOSINGS and lines_left:
            break
        if not bare.startswith((">", "|")):
            lines_left.append(line)
    return "\n".join(lines_left)


def sentences(text: str) -> list[str]:
    """The sentences in order. Wrapped lines are joined; items of a list stand alone."""
    found = []
    for paragraph in _paragraphs(text):
        found += [part for part in _SENTENCE_END.split(one_line(paragraph)) if part]
    return found


def is_greeting(sentence: str) -> bool:
    """A line such as “Hi Maya,”: a greeting and at most three more words."""
    plain = sentence.casefold().rstrip(",.!:")
    return len(plain.split()) <= 4 and any(
        plain == greeting or plain.startswith(greeting + " ") for greeting in GREETINGS
    )


def _paragraphs(text: str) -> list[str]:
    paragraphs: list[str] = [""]
    for line in text.splitlines():
        bare = line.strip()
        mark = _LIST_MARK.match(bare)
        if not bare or mark or is_greeting(bare):
            paragraphs.append("")
        if mark:
            bare = bare[mark.end() :]
        paragraphs[-1] += bare + " "
        if is_greeting(bare):
            paragraphs.append("")
    return [paragraph for paragraph in paragraphs if paragraph.strip()]

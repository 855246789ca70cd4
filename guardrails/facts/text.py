"""Text as it may go into headers, ids and bodies, and as people must see it. Pure."""

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field

from guardrails.facts.classes import Is
from guardrails.facts.phrases import phrase
from integrations.mail.text import normalised

# Letters and marks that show as nothing, beside the categories below.
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Control, format (zero-width, bidirectional), surrogate, line and paragraph separators.
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# What could be taken for the end of a quotation, or for another one.
INNER_QUOTES = dict.fromkeys(map(ord, '“”„‟«»"＂〝〞〟‹›❝❞'), "'")  # noqa: RUF001
LINE = frozenset("\n\r\t")
EMOJI_STYLE, KEYCAP, JOINER = "\ufe0f", "\u20e3", "\u200d"
# What scripts and emoji are written with: both joiners, and how a sign is to be drawn.
IN_WRITING = frozenset({"\u200c", JOINER, "\ufe0e", EMOJI_STYLE})


def is_plain(text: str) -> bool:
    """Whether the text is printable ASCII, where nothing can hide. Quick."""
    return text.isascii() and text.isprintable()


def is_hidden(character: str) -> bool:
    """Whether a reader cannot see this character, or it moves others around."""
    return (
        unicodedata.category(character) in HIDDEN_CATEGORIES
        or character in BLANK
        or "\ufe00" <= character <= "\ufe0f"
        or "\U000e0100" <= character <= "\U000e01ef"
        or "\u180b" <= character <= "\u180f"
    )


def visible(text: str, *, limit: int | None = None) -> str:
    """The text with every hidden character but line breaks and tabs written as ⟨U+200B⟩."""
    cut = text if limit is None or len(text) <= limit else text[: limit - 1] + "…"
    if is_plain(cut):
        return cut
    hidden = (ord(one) for one in set(cut) if one not in LINE and is_hidden(one))
    found = cut.translate({code: f"⟨U+{code:04X}⟩" for code in hidden})
    return cut if found == cut else found  # a phrase stays one


NO_TITLE = phrase("no title")


def quote(text: str, *, limit: int = 120, empty: str = NO_TITLE) -> str:
    """Somebody's words within a line of Remit's: in quotation marks that nothing inside can close
    or open, on one line, hidden characters shown, cut with the whole length said."""
    words = " ".join(visible(text).translate(INNER_QUOTES).split())
    if not words:
        return phrase("(%(empty)s)", empty=empty)
    if len(words) <= limit:
        return f"“{words}”"
    return phrase(
        "“%(words)s…” (%(number)s characters)", words=words[: limit - 1], number=len(words)
    )


def heading_of(line: str) -> str:
    """What Remit says itself in a line that goes on with somebody's words (`quote`)."""
    return line.partition("“")[0].rstrip(": ")


def about_of(line: str) -> str:
    """The rest of such a line: somebody's words, in their quotation marks."""
    return line[len(line.partition("“")[0]) :]


def duration(seconds: int) -> str:
    """A length of time in the largest unit that says it exactly: “90 seconds”, “1 hour”."""
    for length, unit in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds % length == 0 and seconds >= length:
            many = f"%(number)s {unit}s" if seconds != length else f"1 {unit}"
            return phrase(many, number=seconds // length)
    return phrase("%(number)s seconds", number=0)


def one_line(text: str) -> str:
    """Refuses line breaks and hidden characters: they split headers and deceive readers."""
    if is_plain(text):
        return text
    for character in text:
        if is_hidden(character):
            raise ValueError(f"contains the hidden character U+{ord(character):04X}")
    return text


def written_line(text: str) -> str:
    """One line as people write it: as `one_line`, but Persian words keep their joiners, and
    emoji what they are made of. Each stands right behind a sign that can be seen and is not
    ASCII (or makes a keycap), so nothing is hidden in a row of them or in plain words."""
    if is_plain(text):
        return text
    for before, character, after in zip(" " + text, text, text[1:] + " ", strict=False):
        if not (character in IN_WRITING and _belongs(character, before, after)):
            one_line(character)
    return text


def _belongs(character: str, before: str, after: str) -> bool:
    if character == EMOJI_STYLE and after == KEYCAP:
        return True
    in_emoji = character == JOINER and before == EMOJI_STYLE
    return not before.isascii() and (in_emoji or not is_hidden(before))


def storable(text: str) -> str:
    """Refuses control characters other than line breaks and tabs, and broken surrogates.
    Other hidden characters may stand in a body; cards show them."""
    if is_plain(text):
        return text
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in LINE:
            raise ValueError(f"contains the control character U+{ord(character):04X}")
    return text


MENTION = re.compile(r"\[~|(?<![\w.+-])@\w")


def unmentioning(text: str) -> str:
    """Refuses what issue trackers read as a mention: it notifies somebody whom nobody decided
    on. Hidden characters and other forms of letters are looked through."""
    storable(text)
    plain = "".join(character for character in text if not is_hidden(character))
    if MENTION.search(normalised("NFKC", plain)):
        raise ValueError("mentions somebody; write the name without @")
    return text


NOT_IN_IDS = re.compile(r"[\s/\\?#]")


def identifier(text: str) -> str:
    """Refuses ids that a path, a header or a reader could take for something else."""
    one_line(text)
    if NOT_IN_IDS.search(text) or ".." in text:
        raise ValueError("is not a plain id")
    return text


Identifier = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(identifier)]
ObjectId = Annotated[Identifier, Is("object")]
TargetId = Annotated[Identifier, Is("target")]
Line = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(written_line), Is("text")]
Body = Annotated[str, Field(max_length=50_000), AfterValidator(storable), Is("text")]
Unmentioning = Annotated[str, Field(max_length=50_000), AfterValidator(unmentioning), Is("text")]

"""Which of a message's words the person typed: not what they quoted, passed on or pasted. Pure.

A frontend that knows says what was pasted; without it, structure decides: marks of quotes, the
lines and headers that announce a mail, signatures, code, tables, markup. Doubt means pasted: it
costs a question, while a stranger's words that count as typed cost the guard.

Our own phrases, because libraries look for the answer in a mail, and here is a chat with anything
in it. Of the 38 pastes of `tests/guardrails/pastes.py` mail-parser-reply 1.36 leaves the stranger's
address in 24, quotequail 0.5.4 in 27 and email-reply-parser 0.5.12 in 35; here it is left in none.
(Of 400 real mails pasted with their headers none of the four leaves anything.)
"""

# ruff: noqa: RUF001 - other languages have letters and marks that look like ASCII
import re
from collections.abc import Iterable, Sequence

from integrations.mail import quoting

# What is longer nobody has typed: a message has 20,000 characters at most, and one that answers a
# question is read with it. So nothing of it counts, and whatever reads words is given no more.
MOST_CHARS = 50_000
MOST_TEXT_CHARS = 200_000  # with what they pasted: an answer, and what was asked before it
HOLE = "\ufffc"  # stands for each character that was pasted
LINE_CHARS = 500
WRAPPED_LINES = 3
HEAD_LINES = 4
ENDING_LINES = 15
QUOTED = (">", "|", "＞", "»", "│", "┃", "»")
FENCES = ("```", "~~~")
INDENTED = ("    ", "\t")
COLONS = (":", "：")

SAYS = re.compile(rf"(?i)(?:{quoting.VERBS})")
OPENS = re.compile(rf"(?i)(?:{quoting.OPENERS})(?=\W|\d)|\d")
ANNOUNCED = re.compile(
    rf"(?i)[-_ ]*(?:begin )?(?:{quoting.ORIGINAL}|{quoting.FORWARDED}|{quoting.FORWARDED_WHOLE})"
    r"\W*$"
)
ABOUT_A_MAIL = re.compile(r"(?i)original|forwarded|message")
DASHES = frozenset("-_=*–—")
SIGNED_BY_DEVICE = re.compile(rf"(?i)(?:{quoting.SENT_FROM})")
HEADER = re.compile(rf"(?i)[*_ ]*(?P<name>{quoting.FROM}|{quoting.OTHER})[*_ ]*\s?[:：]")
OF_SENDER = re.compile(rf"(?i)(?:{quoting.FROM}|{quoting.SENT})")
GREETING = re.compile(rf"(?i)(?:{quoting.GREETINGS})[ ,.!]*")
CONTACT = re.compile(r"@\w|://|www\.|\+?\d[\d ()./-]{6,}")
PHONE = re.compile(
    r"(?i)(?:(?:tel|phone|mobile?|fon|fax|cell|móvil)\W.{0,5})?\+?[\d(][\d ()./-]{6,}"
)
MARKUP = re.compile(
    r"</\w|<(?:a|b|br|div|font|img|p|span|table|td|tr|blockquote)[\s/>]", re.IGNORECASE
)
LOGGED = re.compile(
    r"\[?\d{1,4}[./-]\d{1,2}[./-]?[^\]:-]{0,12}\d{1,2}:\d\d[^:]{0,60}:\s|\[[^\]]*\d:\d\d"
)


def without_pasted(text: str, spans: Iterable[Sequence[int]]) -> str:
    """The text with a hole for each character that a frontend marked as pasted, from the first
    up to the second place of each span. Blanks and line ends stay. Marks only take away: what
    stood beside a hole is no whole word any more."""
    characters = list(text)
    for start, end in spans:
        for at in range(max(0, start), min(end, len(characters))):
            if not characters[at].isspace():
                characters[at] = HOLE
    return "".join(characters)


def own_words(text: str, pasted: Iterable[Sequence[int]] = ()) -> str:
    """The lines that the person typed themselves, in their order, with holes for what a frontend
    marked as pasted. Which lines they are the whole text says, so that no mark makes any of
    them the person's. Where they are more than MOST_CHARS, or the text is longer than
    MOST_TEXT_CHARS, there are none."""
    if len(text) > MOST_TEXT_CHARS:
        return ""
    lines = text.splitlines()
    with_holes = without_pasted(text, pasted).splitlines()
    typed: list[str] = []
    fenced = ""
    for at, line in enumerate(lines):
        plain = line[:LINE_CHARS].strip()
        if plain.startswith(FENCES):
            fenced = "" if fenced and plain.startswith(fenced) else fenced or plain[:3]
            continue
        if fenced:
            continue
        if plain and _begins_foreign(lines, at, plain):
            break
        if not _is_foreign(line, plain):
            typed.append(with_holes[at])
    found = "\n".join(_without_signature(typed))
    return found if len(found) <= MOST_CHARS else ""


def _begins_foreign(lines: Sequence[str], at: int, plain: str) -> bool:
    """Whether nothing from this line on is the person's."""
    if _divides(plain) or ANNOUNCED.match(plain) or SIGNED_BY_DEVICE.match(plain):
        return True
    if _attributes(plain) or _begins_a_mail(lines[at : at + HEAD_LINES]):
        return True
    return _is_wrapped(plain, lines[at + 1 : at + WRAPPED_LINES])


def _divides(line: str) -> bool:
    """A line between the person's text and another, with a title in it or not, or above a
    signature."""
    first, last = set(line[:2]), set(line[-2:])
    if not first <= DASHES:
        return False
    if len(line) <= 2 or (last <= DASHES and len(line) > 4):
        return True
    return ABOUT_A_MAIL.search(line) is not None


def _attributes(line: str) -> bool:
    """Whether the line says that somebody wrote what follows: “On Monday, Ann wrote:”, or gives
    a date and an address alone, as some programs do."""
    if not line.endswith(COLONS):
        return False
    dated = "@" in line and OPENS.match(line) is not None and any(map(str.isdigit, line))
    return dated or SAYS.search(line) is not None


def _is_wrapped(first: str, following: Sequence[str]) -> bool:
    """Whether such a line begins here and ends in one of the following ones."""
    if not (OPENS.match(first) and any(map(str.isdigit, first))):
        return False
    for line in following:
        plain = line[:LINE_CHARS].strip()
        if OPENS.match(plain) and _attributes(plain):
            return False  # a line of its own, below one of the person's
        first = f"{first} {plain}"
        if _attributes(first):
            return True
    return False


def _begins_a_mail(lines: Sequence[str]) -> bool:
    """Whether the headers of a mail begin here, its sender or date of sending among them."""
    found = [HEADER.match(line[:LINE_CHARS]) for line in lines]
    names = [one["name"] for one in found if one]
    return found[0] is not None and len(names) > 1 and any(map(OF_SENDER.fullmatch, names))


def _is_foreign(line: str, plain: str) -> bool:
    """Whether this line alone is quoted, code, markup, or a row of a table or of a chat."""
    return (
        plain.startswith(QUOTED)
        or (line.startswith(INDENTED) and bool(plain))
        or line.count("\t") > 1
        or line.count("|") > 1
        or MARKUP.search(line) is not None
        or LOGGED.match(plain) is not None
    )


def _without_signature(lines: list[str]) -> list[str]:
    """Without a greeting that addresses or numbers of somebody follow, and without a block
    that ends with how somebody is reached by telephone."""
    for at in range(max(0, len(lines) - ENDING_LINES), len(lines)):
        behind = lines[at + 1 :]
        if GREETING.fullmatch(lines[at].strip()) and any(map(CONTACT.search, behind)):
            return lines[:at]
    block = len(lines)
    while block and lines[block - 1].strip():
        block -= 1
    last = [line.strip() for line in lines[block:]]
    if len(last) > 2 and any(map(PHONE.fullmatch, last)):
        return lines[:block]
    return lines

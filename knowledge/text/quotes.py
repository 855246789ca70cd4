"""What the sender of a mail wrote himself: quoted replies and signatures left out. Pure.

The quoted mail is an item of its own; embedding it again with every reply would make each
mail of a thread look alike. In doubt a line stays: a quote that is embedded twice costs a
little, an answer that is left out can never be found.
"""

# ruff: noqa: RUF001 - other languages have letters that look like Latin ones
import re

from integrations.mail import quoting

# How "On Tue, 3 Mar 2026 at 10:01, Ann <ann@example.com> wrote:" and its kin in other languages
# begin and end, and what stands between: each looked for by itself, in one pass over the line.
_OPENING = re.compile(rf"(?i){quoting.OPENERS}")
_SAYS = re.compile(rf"(?i){quoting.VERBS}")
_YEAR = re.compile(r"\d{4}")
_TIME = re.compile(r"\d[:.h]\d\d")
_COLONS = (":", "：")
_BEFORE_VERB, _AFTER_VERB = 400, 100
_ORIGINAL = re.compile(rf"(?i)[-_]{{2,}} ?(?:{quoting.ORIGINAL}) ?[-_]{{2,}}")
_FORWARDED = re.compile(
    rf"(?i)[-_]{{2,}} ?(?:begin )?(?:{quoting.FORWARDED}).*|{quoting.FORWARDED_WHOLE}"
)
_HEAD_FROM = re.compile(rf"[*_ ]*(?:{quoting.FROM})[*_ ]*\s?[:：].*")
_HEAD_OTHER = re.compile(rf"[*_ ]*(?:{quoting.FROM}|{quoting.OTHER})[*_ ]*\s?[:：].*")
_HEAD_LINES = 3
_MAX_HEAD_LINES = 12
_SENT_FROM = re.compile(rf"(?i)(?:{quoting.SENT_FROM})")
_FOOTER_RULE = re.compile(r"[_=*-]{10,}")
_FOOTER = re.compile(r"(?i)mailing list|unsubscribe|listinfo|sponsored by|To post|Digest")
_SIGNATURE_LINES = 15
_LINE_CHARS = 500


def own_words(body: str) -> str:
    """`body` without quoted replies, signature and a list's footer; all of `body` if nothing
    else is in it.

    Lines that begin with `>` go, with the line or head that introduces them; answers between
    and after them stay. A quote without such marks goes to its end, if the sender wrote
    something above it. A forwarded mail stays: it is what the sender wanted to show.
    """
    own_lines: list[str] = []
    lines = body.splitlines()
    index = 0
    while index < len(lines):
        plain = lines[index][:_LINE_CHARS].strip()
        if _FORWARDED.fullmatch(plain):
            own_lines += lines[index:]
            break
        if plain.startswith(">"):
            index += 1
            continue
        introduced = _introduction(lines, index)
        if introduced and not _is_marked(lines, index + introduced):
            if not any(line.strip() for line in own_lines):
                own_lines += lines[index:]
            break
        if not introduced:
            own_lines.append(lines[index])
        index += introduced or 1
    own = "\n".join(_without_ending(own_lines)).strip()
    return own or body.strip()


def _introduction(lines: list[str], index: int) -> int:
    """How many lines introduce a quoted mail here; 0 for none."""
    first = lines[index][:_LINE_CHARS].strip()
    if _ORIGINAL.fullmatch(first):
        return 1 + _head(lines, index + 1, least=0)
    if head := _head(lines, index, least=_HEAD_LINES):
        return head
    if not first:
        return 0
    if _attributes(first):
        return 1
    # Only with the quote's own marks right behind it.
    if _says(first, start=1) and _is_marked(lines, index + 1):
        return 1
    return _wrapped(first, lines[index + 1 : index + 3])


def _attributes(line: str) -> bool:
    """Whether the line says who wrote what follows, and when. Without an address it takes a
    year and a time: "On Monday I wrote:" is the sender's own."""
    opening = _OPENING.match(line) if line.endswith(_COLONS) else None
    return opening is not None and _is_dated(line) and _says(line, start=opening.end())


def _is_dated(line: str) -> bool:
    if "@" in line or " at " in line.lower():
        return any(map(str.isdigit, line))
    year, time = _YEAR.search(line), _TIME.search(line)
    if year is None or time is None:
        return False
    return bool(_TIME.search(line, year.end()) or _YEAR.search(line, time.end()))


def _says(line: str, *, start: int) -> bool:
    """Whether somebody writes, from `start` on, and a colon ends the line soon after."""
    if not line.endswith(_COLONS):
        return False
    last = len(line) - 1
    return any(
        found.start() - start <= _BEFORE_VERB and last - found.end() <= _AFTER_VERB
        for found in _SAYS.finditer(line, start)
    )


def _wrapped(first: str, following: list[str]) -> int:
    """The lines of an attribution that goes on in the following ones; 0 if it is none."""
    if not any(character.isdigit() for character in first):
        return 0
    for count, line in enumerate(following, start=2):
        plain = line[:_LINE_CHARS].strip()
        if _attributes(plain):  # with a line of the sender's own above it
            return 0
        first = f"{first} {plain}"
        if _attributes(first):
            return count
    return 0


def _head(lines: list[str], index: int, *, least: int) -> int:
    """The lines of a head of From, Sent, To, Subject; 0 for fewer than `least`."""
    start = index
    if least and not _HEAD_FROM.fullmatch(lines[index][:_LINE_CHARS].strip()):
        return 0
    while index < min(len(lines), start + _MAX_HEAD_LINES):
        if not _HEAD_OTHER.fullmatch(lines[index][:_LINE_CHARS].strip()):
            break
        index += 1
    return index - start if index - start >= least else 0


def _is_marked(lines: list[str], index: int) -> bool:
    """Whether the next line with anything in it carries the mark of a quote."""
    following = next((line.strip() for line in lines[index : index + 3] if line.strip()), "")
    return following.startswith(">")


def _without_ending(lines: list[str]) -> list[str]:
    """Without a list's footer, and before it a signature."""
    for index in range(max(0, len(lines) - _SIGNATURE_LINES), len(lines)):
        rule = _FOOTER_RULE.fullmatch(lines[index].strip())
        if rule and _FOOTER.search("\n".join(lines[index:])):
            lines = lines[:index]
            break
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    lines = lines[:end]
    for index in range(max(0, len(lines) - _SIGNATURE_LINES), len(lines)):
        plain = lines[index].strip()
        if plain == "--" or _SENT_FROM.match(plain):
            return lines[:index]
    return lines

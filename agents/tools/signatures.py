"""The user's signature below a mail that an agent wrote: once, whatever the model wrote. Pure."""

import re
from collections.abc import Collection, Sequence

from integrations.mail.quoting import GREETINGS

_CLOSING = re.compile(rf"\W*(?:{GREETINGS})\W*", re.IGNORECASE)
_DASHES = re.compile(r"\s*[-_]{2,}\s*")


def sign(text: str, signature: str, *, name: str) -> str:
    """The text with the signature at its end, in place of the name and the lines of it that stand
    there, and of a closing (“Best regards”) where the signature begins with one."""
    if not _words(signature) or f" {_words(text)}".endswith(f" {_words(signature)}"):
        return text
    own = signature.splitlines()
    lines: Sequence[str] = text.rstrip().splitlines()
    lines = lines[: _end_of_words(lines, _signing(own, name))]
    if lines and _CLOSING.fullmatch(own[0]) and _CLOSING.fullmatch(lines[-1]):
        lines = _without_blank_end(lines[:-1])
    joint = "\n" if lines and _CLOSING.fullmatch(lines[-1]) else "\n\n"
    return "\n".join(lines) + joint + signature if lines else f"{text}\n\n{signature}"


def _signing(own: Sequence[str], name: str) -> Collection[str]:
    """Lines that sign: those of the signature, and the user's name where it has that, too."""
    said = {_words(line) for line in own}
    names = {_words(name), *_words(name).split()[:1]}
    has_name = any(f" {one} " in f" {line} " for one in names for line in said)
    return said | names if has_name else said


def _end_of_words(lines: Sequence[str], signing: Collection[str]) -> int:
    """Behind which line only a signature comes. A name counts below a closing, dashes or an empty
    line alone: at the end of a list it is what the mail is about."""
    end = len(lines)
    while end and (_words(lines[end - 1]) in signing or not lines[end - 1].strip()):
        end -= 1
    if end and _DASHES.fullmatch(lines[end - 1]):
        return len(_without_blank_end(lines[: end - 1]))
    above = lines[end - 1] if end else ""
    is_set_off = end < len(lines) and not lines[end].strip()
    return end if is_set_off or _CLOSING.fullmatch(above) else len(lines)


def _without_blank_end(lines: Sequence[str]) -> Sequence[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))

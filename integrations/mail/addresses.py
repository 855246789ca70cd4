"""Address headers of strangers: one strict addr-spec per entry, display names apart. Pure.

The address is read before any RFC 2047 word is decoded, so that no encoded word can bring
in an address, a comma or an angle bracket. What is not exactly one address is refused, not
repaired: quoted local parts, domain literals, routes, raw non-ASCII, trailing dots.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from integrations.mail.text import clean_line, decode_words, unfolded

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDR_SPEC = re.compile(rf"{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*")
_PLAIN_RUN = re.compile(r'[^"(<,;:]+')
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)"')
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, kw_only=True)
class Mailbox:
    """One addr-spec, exactly as it was written, and the name shown beside it."""

    address: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Mailboxes:
    """The addresses of one header in order, and the entries that are not an address."""

    accepted: tuple[Mailbox, ...]
    refused: tuple[str, ...]


def is_addr_spec(text: str) -> bool:
    """Whether `text` is exactly one ASCII address (local part at most 64, all at most 254)."""
    return (
        len(text) <= 254
        and _ADDR_SPEC.fullmatch(text) is not None
        and len(text.partition("@")[0]) <= 64
    )


def parse_mailboxes(value: str) -> Mailboxes:
    """The entries of one address header (raw bytes as surrogates). Never raises."""
    accepted: list[Mailbox] = []
    refused: list[str] = []
    for entry in _entries(unfolded(value)):
        mailbox = entry.mailbox()
        if mailbox:
            accepted.append(mailbox)
        elif entry.source.strip():
            refused.append(entry.source.strip())
    return Mailboxes(accepted=tuple(accepted), refused=tuple(refused))


@dataclass
class _Entry:
    """What stands between two commas, sorted by where it stood."""

    source: str = ""
    texts: list[str] = field(default_factory=list)
    angles: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    quoted: bool = False
    broken: bool = False

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def mailbox(self) -> Mailbox | None:
        if self.broken or len(self.angles) > 1:
            return None
        text = self.text.strip()
        address = self.angles[0].strip() if self.angles else text
        if (self.quoted and not self.angles) or not is_addr_spec(address):
            return None
        name = text if self.angles else ""
        return Mailbox(
            address=address, name=clean_line(decode_words(name or " ".join(self.comments)))[:200]
        )


def _entries(text: str) -> Iterator[_Entry]:
    entry, begin, position = _Entry(), 0, 0
    while position < len(text):
        start, char = position, text[position]
        if char in ",;":
            entry.source = text[begin:position]
            yield entry
            entry, begin = _Entry(), position + 1
            position = begin
            continue
        if char == ":":  # a group's name goes before it; its members are entries like others
            if not (entry.broken or entry.angles or any("@" in one for one in entry.texts)):
                entry, begin = _Entry(), position + 1
                position = begin
                continue
            entry.broken, position = True, position + 1
        elif char == '"':
            quoted = _QUOTED.match(text, position)
            entry.quoted = True
            if quoted:
                entry.broken = entry.broken or bool(entry.angles)
                entry.texts.append(_ESCAPED.sub(r"\1", quoted[1]))
            else:
                entry.broken = True
            position = quoted.end() if quoted else len(text)
        elif char == "(":
            position = _comment_end(text, position)
            entry.comments.append(text[start + 1 : position - 1])
            entry.broken = entry.broken or position > len(text)
        elif char == "<":
            end = text.find(">", position)
            entry.angles.append(text[position + 1 : end])
            entry.broken = entry.broken or end < 0
            position = end + 1 if end >= 0 else len(text)
        else:
            run = _PLAIN_RUN.match(text, position)
            position = run.end() if run else position + 1
            plain = text[start:position]
            entry.texts.append(plain)
            # Words after the address are someone's attempt to be read twice.
            entry.broken = entry.broken or bool(entry.angles and plain.strip())
    entry.source = text[begin:]
    yield entry


def _comment_end(text: str, start: int) -> int:
    """The position after a comment (they nest); beyond the end of the text if it is open."""
    depth, position = 0, start
    while position < len(text):
        char = text[position]
        position += 2 if char == "\\" else 1
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return position
    return len(text) + 1

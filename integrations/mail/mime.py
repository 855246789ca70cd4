"""The parts of a MIME message: text, HTML, attachments. Pure, bounded in depth and number."""

import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from email.errors import InvalidBase64CharactersDefect
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import Compat32
from itertools import islice
from typing import cast

from integrations.mail.text import clean_line, clean_text, decode, header_text, unfolded

MAX_TEXT_CHARS = 100_000
MAX_DEPTH = 20
MAX_PARTS = 200
MAX_ATTACHMENTS = 50
MAX_BOUNDARIES = 200
MAX_DESCRIPTION_CHARS = 4_000  # of a header that describes a part: a name has 255, a boundary 70

_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")
_BARE_CR = re.compile(rb"\r(?!\n)")
_BLANK_BEFORE_COLON = re.compile(rb"^([!-9;-~]+)[ \t]+:", re.MULTILINE)
_BOUNDARY = re.compile(rb"boundary[\s*\d]{0,20}=", re.IGNORECASE)
_MIME_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/=\s]|(?<=\S)[ \t]+(?=\S)")
_NAME_TROUBLE = re.compile(r'[<>:"|?*\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]')


@dataclass(frozen=True, kw_only=True)
class Part:
    """One attachment: the last component of its name, its type, its decoded bytes."""

    name: str
    mime_type: str
    content: bytes = field(repr=False)


class _Bounded(Compat32):
    """Cuts headers that describe a part: the library takes the square of their length to take
    their parameters apart."""

    def header_source_parse(self, sourcelines: Sequence[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(list(sourcelines))
        if name.lower().startswith("content-"):
            value = value[:MAX_DESCRIPTION_CHARS]
        return name, value


_POLICY = _Bounded()


@dataclass
class Body:
    """What a message says. `notes` are codes of `integrations.mail.mail.NOTES`."""

    text: str = ""
    html: str = ""
    attachments: list[Part] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)


def read_message(raw: bytes) -> tuple[Message, bool]:
    """The message tree, and whether its structure could be read.

    If not, all that follows the headers is one plain text.
    """
    # NUL is not allowed in mail. A lone CR is no line end to a mail server, but is one to
    # the parser, which would take the rest of the line for another header. A blank before
    # the colon is allowed in old mail, and the parser takes such a header for the body.
    raw = raw.replace(b"\x00", b"").lstrip(b"\r\n")
    end = _END_OF_HEADERS.search(raw)
    head = raw[: end.start()] if end else raw
    raw = _BLANK_BEFORE_COLON.sub(rb"\1:", _BARE_CR.sub(b" ", head)) + raw[len(head) :]
    # The parser compares every line with every open boundary: their number bounds the work.
    boundaries = sum(1 for _ in islice(_BOUNDARY.finditer(raw), MAX_BOUNDARIES + 1))
    if boundaries <= MAX_BOUNDARIES:
        try:
            return message_from_bytes(raw, policy=_POLICY), True
        except Exception:  # noqa: BLE001, S110  # it raises whatever it trips over
            pass
    message = BytesHeaderParser(policy=_POLICY).parsebytes(raw)
    for name in ("content-type", "content-transfer-encoding"):
        del message[name]
    return message, False


def read_body(message: Message) -> Body:
    """Text, HTML and attachments of a message. Attached messages are not opened."""
    body = Body()
    texts: list[str] = []
    pages: list[str] = []
    for part in _leaves(message, body):
        _decode_raw_bytes(part)
        kind = _content_type(part)
        name, attached = _file_name(part), _disposition(part) == "attachment"
        is_text = kind in {"text/plain", "text/html"} or kind.startswith("multipart/")
        if part is message and kind.startswith("text/"):
            is_text, name, attached = True, "", False
        if not is_text or attached or name:
            _attach(body, name=name, kind=kind, content=_payload(part))
            continue
        text, guessed = decode(_payload(part), _charset(part))
        if guessed:
            body.notes.add("charset_guessed")
        if part.defects:
            body.notes.add("mime_broken")
        (pages if kind == "text/html" else texts).append(clean_text(text))
    body.text = _joined(texts, body)
    body.html = _joined(pages, body)
    return body


def report_type(message: Message) -> str:
    """What a multipart/report reports (RFC 6522), in lower case; empty for any other mail."""
    if _content_type(message) != "multipart/report":
        return ""
    try:
        found = message.get_param("report-type")
    except Exception:  # noqa: BLE001
        return ""
    return found.lower()[:40] if isinstance(found, str) and found.isprintable() else ""


def _leaves(message: Message, body: Body) -> Iterator[Message]:
    """The parts that hold content, in order, without those beyond the limits."""
    stack: list[tuple[Message, int]] = [(message, 0)]
    seen = 0
    while stack:
        part, depth = stack.pop()
        seen += 1
        if seen > MAX_PARTS:
            body.notes.add("mime_too_deep")
            return
        if part.defects:
            body.notes.add("mime_broken")
        children = part.get_payload()
        if not (isinstance(children, list) and _content_type(part).startswith("multipart/")):
            yield part
        elif depth < MAX_DEPTH:
            stack += [(child, depth + 1) for child in reversed(children)]
        else:
            body.notes.add("mime_too_deep")


def _decode_raw_bytes(part: Message) -> None:
    """Raw 8-bit in the headers that describe a part would be lost when they are taken apart."""
    for name, value in part.raw_items():
        if name.lower() in ("content-type", "content-disposition") and not str(value).isascii():
            part.replace_header(name, unfolded(str(value)))


def _attach(body: Body, *, name: str, kind: str, content: bytes) -> None:
    if len(body.attachments) >= MAX_ATTACHMENTS:
        body.notes.add("mime_too_deep")
        return
    mime_type = kind if _MIME_TYPE.fullmatch(kind) else "application/octet-stream"
    body.attachments.append(Part(name=name or "unnamed", mime_type=mime_type, content=content))


def _joined(texts: list[str], body: Body) -> str:
    text = "\n".join(text.rstrip("\n") + "\n" for text in texts if text.strip())
    if len(text) > MAX_TEXT_CHARS:
        body.notes.add("text_cut")
    return text[:MAX_TEXT_CHARS]


# The accessors of the standard library decode parameters on the way and raise on some of
# what strangers write. A parameter that cannot be read is not there.


def _content_type(part: Message) -> str:
    try:
        return part.get_content_type()
    except Exception:  # noqa: BLE001
        return "application/octet-stream"


def _charset(part: Message) -> str | None:
    try:
        return part.get_content_charset()
    except Exception:  # noqa: BLE001
        return None


def _disposition(part: Message) -> str | None:
    try:
        return part.get_content_disposition()
    except Exception:  # noqa: BLE001
        return "attachment"


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename("")
    except Exception:  # noqa: BLE001
        return "unnamed"
    last = re.split(r"[/\\]", header_text(str(name)))[-1]
    return clean_line(_NAME_TROUBLE.sub("", last)).lstrip(".")[:200]


def _payload(part: Message) -> bytes:
    """The decoded content; of an attached message, what it looks like as text."""
    try:
        if (found := _broken_base64(part)) is not None:
            return found
        payload = part.get_payload(decode=True)
        if payload is None:
            return b"".join(bytes(child) for child in cast("list[Message]", part.get_payload()))
    except Exception:  # noqa: BLE001
        return b""
    return payload if isinstance(payload, bytes) else b""


def _broken_base64(part: Message) -> bytes | None:
    """What a part holds that says it is base64 and is not, or not to its end: mailing lists add
    a footer in plain text. None for a part that is what it says."""
    if str(part.get("content-transfer-encoding", "")).strip().lower() != "base64":
        return None
    body = part.get_payload()
    odd = _NOT_BASE64.search(body) if isinstance(body, str) else None
    if odd is None or not isinstance(body, str):
        return None
    part.defects.append(InvalidBase64CharactersDefect())
    end = body.rfind("\n", 0, odd.start()) + 1
    encoded = "".join(body[:end].split())
    if len(encoded) % 4:
        encoded, end = "", 0
    return b64decode(encoded) + body[end:].encode("utf-8", "surrogateescape")

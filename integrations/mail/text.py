"""Bytes of strangers to clean text: charsets, RFC 2047 words, control characters. Pure.

Nothing here raises on any input or takes more than linear time, and no result of bytes and headers
holds NUL, a lone surrogate or (for one-line text) any kind of line break.
"""

import binascii
import codecs
import html
import re
import unicodedata
from functools import cache
from typing import Literal

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_BREAKS_AND_CONTROLS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_NOT_A_RAW_BYTE = re.compile(r"[\ud800-\udc7f\udd00-\udfff]")
_LONG_NUMBER = re.compile(r"&#[0-9]{100,};?")  # of no character
MOST_MARKS = 30  # on one letter: UAX 15, stream-safe text
_ENCODED_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?\n]*)\?=")

# Not charsets of mail: some are quadratic in their input, some evaluate escapes, and UTF-7
# makes markup of what every filter before us has seen as harmless letters.
_REFUSED_CODECS = {
    *("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf_7"),
}
# As browsers do (WHATWG Encoding): senders name the standard and write its vendor's extension.
_MEANT = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
    "iso8859_9": "cp1254",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    "iso2022_jp": "iso2022_jp_ext",
}
# Names that Python does not know.
_KNOWN_AS = {
    "iso-8859-8-i": "iso8859_8",
    "iso-8859-8-e": "iso8859_8",
    "ks_c_5601-1989": "cp949",
    "x-gbk": "gb18030",
    "x-sjis": "cp932",
    "x-euc-jp": "euc_jp",
    "x-mac-roman": "mac_roman",
    "unicode-1-1-utf-8": "utf_8",
}
# A text in its charset may be damaged in places; in another charset nearly all of it is noise.
_SOUND_TO_ONE_BAD = 5
# As browsers do: mail that says Latin-1 or ASCII and has bytes above 0x7f is Windows-1252.
_WESTERN = {"ascii", "iso8859-1", "cp1252"}


def decode(data: bytes, charset: str | None) -> tuple[str, bool]:
    """`data` as text, and whether its charset had to be guessed.

    Guessed means: the declared charset is unknown, refused or does not fit (or none is
    declared and the bytes are not ASCII). Then UTF-8 is tried, then the declared one with its
    damaged places marked, if those are few; Windows-1252 is the last resort.
    """
    name = _codec(charset) if charset else "ascii"
    if name and name not in _WESTERN:
        try:
            return data.decode(name), False
        except (LookupError, ValueError):
            pass
    if data.isascii():
        return data.decode("ascii"), name not in _WESTERN
    if name in _WESTERN - {"ascii"}:
        return data.decode("cp1252", "replace"), False
    for candidate in ("utf-8", name):
        damaged = _damaged(data, candidate) if candidate not in {"", *_WESTERN} else None
        if damaged is not None:
            return damaged, True
    return data.decode("cp1252", "replace"), True


def _codec(charset: str) -> str:
    """Python's name of what the sender means; empty for what is unknown or refused."""
    label = charset.strip().strip("\"'").lower()
    try:
        name = codecs.lookup(_KNOWN_AS.get(label, label)).name
    except (LookupError, ValueError):
        return ""
    plain = name.replace("-", "_")
    return "" if plain in _REFUSED_CODECS else _MEANT.get(plain, name)


def _damaged(data: bytes, name: str) -> str | None:
    """`data` in this charset, unless too much of it does not fit."""
    try:
        text = data.decode(name, "replace")
    except (LookupError, ValueError):
        return None
    bad = text.count("\ufffd")
    sound = sum(1 for character in text if not character.isascii()) - bad
    return text if sound >= bad * _SOUND_TO_ONE_BAD else None


def clean_text(text: str) -> str:
    """`text` with \\n as its only line break and no control characters but \\n and tab."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def clean_line(text: str) -> str:
    """`text` on one line: every run of white space and control characters is one blank."""
    return _LINE_BREAKS_AND_CONTROLS.sub(" ", text).strip()


def decode_words(text: str) -> str:
    """`text` with its RFC 2047 words decoded. A word that cannot be decoded stays as it is.

    Neighbours of one charset are joined before decoding: senders cut characters in two.
    """
    parts: list[str] = []
    pending, charset, end = bytearray(), "", 0
    for word in _ENCODED_WORD.finditer(text):
        gap = text[end : word.start()]
        word_charset = word[1].partition("*")[0].lower()
        if pending and (gap.strip() or word_charset != charset):
            parts.append(decode(bytes(pending), charset)[0])
            pending.clear()
            parts.append(gap if gap.strip() else "")
        elif not pending:
            parts.append(gap)
        pending += _word_bytes(word)
        charset, end = word_charset, word.end()
    if pending:
        parts.append(decode(bytes(pending), charset)[0])
    return "".join(parts) + text[end:]


def normalised(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """`text` in this form of Unicode. A letter keeps its first 30 marks: what has more is no
    writing, and sorting the marks takes the square of their number."""
    if text.isascii():
        return text
    return unicodedata.normalize(form, _more_marks().sub(r"\1", text))


@cache
def _more_marks() -> re.Pattern[str]:
    """Marks of one letter beyond those that it keeps; also such as only become marks."""
    spans: list[list[int]] = []
    for code in range(0x300, 0x2_0000):  # no mark stands outside
        if not all(map(unicodedata.combining, unicodedata.normalize("NFKD", chr(code)))):
            continue
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    marks = "".join(f"{chr(first)}-{chr(last)}" for first, last in spans)
    return re.compile(f"([{marks}]{{{MOST_MARKS}}})[{marks}]+")


def unescaped(text: str) -> str:
    """`text` with its HTML entities written out; a number too long for any character is U+FFFD, as
    in a browser (the standard library raises)."""
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text)) if "&" in text else text


def header_text(value: str) -> str:
    """One header as the standard library keeps it (raw bytes as surrogates) to clean text."""
    return clean_line(decode_words(unfolded(value)))


def unfolded(value: str) -> str:
    """A header on one line, its raw 8-bit bytes decoded, its RFC 2047 words left alone."""
    raw = _NOT_A_RAW_BYTE.sub("", value).encode("utf-8", "surrogateescape")
    text, _ = decode(raw, None)
    return clean_line(text)


def _word_bytes(word: re.Match[str]) -> bytes:
    encoded = word[3].encode("utf-8", "replace")
    if word[2] in "qQ":
        return binascii.a2b_qp(encoded, header=True)
    try:
        return binascii.a2b_base64(encoded + b"===")
    except binascii.Error:
        return word[0].encode("utf-8", "replace")

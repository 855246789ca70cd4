"""Text that needs no unpacking: plain, CSV, Markdown, calendars, and HTML."""

import codecs
import re
from collections.abc import Iterator
from typing import IO

from integrations.mail.html import html_to_text
from integrations.mail.text import decode
from knowledge.files.contracts import MAX_CHARS

_MAX_BYTES = 4 * MAX_CHARS
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([A-Za-z0-9_:-]{1,40})", re.IGNORECASE
)


def read(file: IO[bytes]) -> Iterator[str]:
    data = file.read(_MAX_BYTES + 1)
    yield _decoded(data, None)


def read_html(file: IO[bytes]) -> Iterator[str]:
    data = file.read(_MAX_BYTES + 1)
    declared = _DECLARED.search(data[:4_096])
    yield html_to_text(_decoded(data, declared[1].decode() if declared else None))


def _decoded(data: bytes, charset: str | None) -> str:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data.removeprefix(codecs.BOM_UTF8).decode(name, "replace")
    return decode(data, charset)[0]

"""Which kinds of files are read, and by what. A new kind is a module and a line here."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from knowledge.files import mail, pdf, plain, sheets, word

_OFFICE = "application/vnd.openxmlformats-officedocument."


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind: known by the ending of a name, or else by the MIME type."""

    name: str
    endings: tuple[str, ...]
    mime_types: tuple[str, ...]
    read: Callable[[IO[bytes]], Iterator[str]]


KINDS = (
    Kind(name="pdf", endings=("pdf",), mime_types=("application/pdf",), read=pdf.read),
    Kind(
        name="word",
        endings=("docx", "docm"),
        mime_types=(f"{_OFFICE}wordprocessingml.document",),
        read=word.read,
    ),
    Kind(
        name="sheet",
        endings=("xlsx", "xlsm", "xls", "ods"),
        mime_types=(
            f"{_OFFICE}spreadsheetml.sheet",
            "application/vnd.ms-excel",
            "application/vnd.oasis.opendocument.spreadsheet",
        ),
        read=sheets.read,
    ),
    Kind(name="html", endings=("html", "htm"), mime_types=("text/html",), read=plain.read_html),
    Kind(name="mail", endings=("eml",), mime_types=("message/rfc822",), read=mail.read),
    Kind(
        name="text",
        endings=("txt", "csv", "tsv", "md", "rst", "log", "ics", "json", "yaml", "yml", "xml"),
        mime_types=("text/plain", "text/csv", "text/markdown", "text/calendar"),
        read=plain.read,
    ),
)


def kind_of(*, name: str, mime_type: str) -> Kind | None:
    """The kind of a file; None when it is not read. Many senders give a wrong MIME type, so
    the ending of the name counts first."""
    ending = name.rpartition(".")[2].lower()
    mime_type = mime_type.partition(";")[0].strip().lower()
    return next((kind for kind in KINDS if ending in kind.endings), None) or next(
        (kind for kind in KINDS if mime_type in kind.mime_types), None
    )

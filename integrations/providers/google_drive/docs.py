"""Documents of Google's own program (its discovery document, docs v1), added to.

Google takes a change for one revision alone, and all parts of it or none: so the text comes with
the action's mark, a named range around it. Others who may change the document could take it away.
"""

from typing import Any
from urllib.parse import quote

from pydantic import Field

from integrations.exceptions import Changed, Rejected
from integrations.network.answers import parse
from integrations.providers.google.session import GoogleSession
from integrations.providers.google_drive.answers import Said

DOCUMENT = "application/vnd.google-apps.document"
FIELDS = "revisionId,body(content(endIndex)),namedRanges"
READ_ALONE = "Google lets this user read the document and not change it."


class ElementSaid(Said):
    end: int = Field(default=0, alias="endIndex")


class BodySaid(Said):
    content: tuple[ElementSaid, ...] = Field(min_length=1)


class DocumentSaid(Said):
    """`ranges` are by their names."""

    revision: str = Field(default="", alias="revisionId")
    body: BodySaid
    ranges: dict[str, Any] = Field(default={}, alias="namedRanges")


def look(session: GoogleSession, id: str) -> DocumentSaid:
    return parse(DocumentSaid, session.get(_url(id), {"fields": FIELDS}))


def append(session: GoogleSession, id: str, *, to: DocumentSaid, text: str, mark: str) -> None:
    """At the end of what was looked at. Raises Changed where that is not the newest any more."""
    if not to.revision:
        raise Rejected(READ_ALONE)
    # Behind the last character there is always an end of line.
    start = to.body.content[-1].end - 1
    inside = {"startIndex": start, "endIndex": start + _length(text)}
    body = {
        "requests": [
            {"insertText": {"location": {"index": start}, "text": text}},
            {"createNamedRange": {"name": mark, "range": inside}},
        ],
        "writeControl": {"requiredRevisionId": to.revision},
    }
    try:
        session.send("POST", f"{_url(id)}:batchUpdate", body)
    except Rejected as error:
        # One status for both: it has changed, or Google does not take the text.
        if look(session, id).revision != to.revision:
            raise Changed("it has another revision by now") from error
        raise


def _url(id: str) -> str:
    return f"/documents/{quote(id, safe='')}"


def _length(text: str) -> int:
    """As Google counts: in units of UTF-16."""
    return len(text.encode("utf-16-le")) // 2

"""Plain text as Jira keeps it: documents (ADF) in the cloud, wiki text in a data center. What
Remit writes is shown as it was written: nothing in it is markup. Pure."""

import re
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 40
MAX_CHARS = 500_000
BLOCKS = frozenset(
    {
        *("paragraph", "heading", "codeBlock", "listItem", "tableCell", "tableHeader"),
        *("panel", "blockquote", "expand", "rule", "mediaSingle", "taskItem", "decisionItem"),
    }
)
# What begins a mention, a link, a macro or an image.
_MARKUP = re.compile(r"[\[{!]")
_ESCAPED = re.compile(r"\\([\[{!])")


def to_document(text: str) -> dict[str, Any] | None:
    """None for an empty one."""
    if not text.strip():
        return None
    parts = [{"type": "paragraph", "content": list(_lines(part))} for part in text.split("\n\n")]
    return {"type": "doc", "version": 1, "content": parts}


def from_document(document: Any) -> str:
    """The words of a document, blocks apart. Text goes through as it is."""
    if not isinstance(document, dict):
        return document if isinstance(document, str) else ""
    found, length = [], 0
    for piece in _pieces(document, depth=0):
        found.append(piece)
        length += len(piece)
        if length > MAX_CHARS:
            break
    return re.sub(r"\n{3,}", "\n\n", "".join(found)).strip()


def to_wiki(text: str) -> str:
    return _MARKUP.sub(lambda found: f"\\{found[0]}", text)


def from_wiki(text: Any) -> str:
    found = text if isinstance(text, str) else ""
    return _ESCAPED.sub(r"\1", found.replace("\r\n", "\n"))


def _lines(part: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(part.split("\n")):
        if number:
            yield {"type": "hardBreak"}
        if line:
            yield {"type": "text", "text": line}


def _pieces(node: Any, *, depth: int) -> Iterator[str]:
    if not isinstance(node, dict) or depth > MAX_DEPTH:
        return
    kind, given = node.get("type"), node.get("attrs")
    attrs = given if isinstance(given, dict) else {}
    if kind == "text":
        yield str(node.get("text", ""))
    elif kind == "hardBreak":
        yield "\n"
    elif kind in ("mention", "emoji", "status", "date"):
        yield str(attrs.get("text") or attrs.get("shortName") or "")
    elif kind in ("inlineCard", "blockCard", "embedCard"):
        yield str(attrs.get("url", ""))
    if kind == "listItem":
        yield "- "
    content = node.get("content")
    for one in content if isinstance(content, list) else ():
        yield from _pieces(one, depth=depth + 1)
    if kind in BLOCKS:
        yield "\n\n"

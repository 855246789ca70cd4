"""The text a reader of an HTML mail sees. Pure."""

import re
import warnings

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning
from bs4.element import NavigableString, PreformattedString, Tag

from integrations.mail_text import clean_text

MAX_HTML_CHARS = 100_000

# Not `head`: broken mail never closes it, and its whole text would be lost.
_UNSEEN = {"script", "style", "title", "template"}
_BLOCKS = {
    *("address", "article", "aside", "blockquote", "body", "center", "dd", "div", "dl", "dt"),
    *("fieldset", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header"),
    *("hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tr", "ul", "br"),
}
_HIDING_STYLE = re.compile(
    r"display:none|visibility:hidden|mso-hide:all|opacity:0(?:\.0*)?(?:;|!|$)"
    r"|(?:font-size|max-height|max-width):0(?:\.0*)?(?:px|pt|em|rem|%)?(?:;|!|$)"
)
# The parser needs minutes for some 100 kB of unclosed comments or tags. As in a browser, an
# unclosed comment hides the rest; a tag of more than 8,192 characters is dropped.
_REMARK = re.compile(r"<!--(?:-?>|.*?(?:--!?>|\Z))|<[!?][^>]*(?:>|\Z)", re.DOTALL)
_OVERLONG_TAG = re.compile(r"<[^>]{8192,}>?")
_BLANKS = re.compile(r"[ \t\xa0]+")
_BLANK_LINES = re.compile(r"\n{3,}")


def html_to_text(html: str) -> str:
    """The visible text of `html`, one line per block, at most one blank line in a row.

    Scripts, styles, comments and elements hidden by attribute or inline style are left out:
    what a person cannot see must not speak to an agent. Alternative texts of images are left
    out too. Only the first 100,000 characters are read. Never raises.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        soup = BeautifulSoup(_tamed(html[:MAX_HTML_CHARS]), "html.parser")
    parts: list[str] = []
    node: object = next(iter(soup.contents), None)
    while node is not None:
        if isinstance(node, Tag):
            if node.name in _UNSEEN or _is_hidden(node):
                node = _after(node)
                continue
            if node.name in _BLOCKS:
                parts.append("\n")
            elif node.name in {"td", "th"}:
                parts.append(" ")
        elif isinstance(node, NavigableString) and not isinstance(node, PreformattedString):
            parts.append(_BLANKS.sub(" ", node.replace("\n", " ").replace("\r", " ")))
        node = node.next_element if isinstance(node, Tag | NavigableString) else None
    lines = (_BLANKS.sub(" ", line).strip() for line in "".join(parts).split("\n"))
    return clean_text(_BLANK_LINES.sub("\n\n", "\n".join(lines))).strip()


def _tamed(html: str) -> str:
    def blank_after_bracket(remark: re.Match[str]) -> str:
        # What stands around a comment must not become a new tag.
        return " " if html[remark.start() - 1 : remark.start()] == "<" else ""

    return _OVERLONG_TAG.sub("", _REMARK.sub(blank_after_bracket, html))


def _is_hidden(tag: Tag) -> bool:
    style = re.sub(r"\s", "", str(tag.get("style") or "")).lower()
    return tag.has_attr("hidden") or bool(style and _HIDING_STYLE.search(style))


def _after(tag: Tag) -> object:
    """The first node after `tag` and everything inside it."""
    current: Tag | None = tag
    while current is not None:
        if current.next_sibling is not None:
            return current.next_sibling
        current = current.parent
    return None

"""The text a reader of an HTML mail sees. Pure.

The tokenizer is our own because it must be linear: mail is written by strangers, and the
parser of the standard library, which BeautifulSoup builds on, works for minutes on 100 kB of
unclosed tags, comments or quotes. It follows the HTML standard where the two differ.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from integrations.mail.text import clean_text, unescaped

MAX_HTML_CHARS = 500_000

_TAG_START = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
_ATTRIBUTE = re.compile(
    r"""[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)(?:"|\Z)|'([^']*)(?:'|\Z)|([^\s>]*)))?"""
)
_TAG_END = re.compile(r"[\s/]*>")
_REMARK = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))|<(?:[!?]|/(?=[^a-zA-Z]))[^>]*(?:>|\Z)", re.DOTALL
)
_RAW_END = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in ("script", "style", "title")
}
_VOID = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"),
    *("track", "wbr"),
}
# Elements that stand on lines of their own, and those with an empty line around them.
_BLOCKS = {
    *("address", "body", "center", "dd", "div", "dl", "dt", "fieldset", "figure", "footer"),
    *("form", "header", "hr", "li", "main", "nav", "ol", "option", "section", "tr", "ul"),
}
_PARAGRAPHS = {
    *("article", "aside", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "p", "pre", "table"),
}
_HIDING_STYLE = re.compile(
    r"display:none|visibility:hidden|mso-hide:all|opacity:0(?:\.0*)?(?:;|!|$)"
    r"|(?:font-size|max-height|max-width):0(?:\.0*)?(?:px|pt|em|rem|%)?(?:;|!|$)"
)
_BLANKS = re.compile(r"[ \t\xa0]+")
_WHITE_SPACE = re.compile(r"\s+")
_BLANK_LINES = re.compile(r"\n{3,}")


class _Token(NamedTuple):
    kind: Literal["text", "open", "close"]
    value: str  # the text, or the element's name in lower case
    hidden: bool = False


class _Elements:
    """The elements that are open at one place, and whether one of them is hidden."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._count: Counter[str] = Counter()
        self._around_hidden: int | None = None

    @property
    def hidden(self) -> bool:
        return self._around_hidden is not None

    def is_open(self, name: str) -> bool:
        return self._count[name] > 0

    def open(self, name: str, *, hidden: bool) -> None:
        if hidden and not self.hidden:
            self._around_hidden = len(self._names)
        self._names.append(name)
        self._count[name] += 1

    def close(self, name: str) -> None:
        """Close the innermost `name` with all that is open inside it; nothing if none is."""
        if not self.is_open(name):
            return
        while True:
            innermost = self._names.pop()
            self._count[innermost] -= 1
            if innermost == name:
                break
        if self._around_hidden is not None and len(self._names) <= self._around_hidden:
            self._around_hidden = None


class _Page:
    """The text so far, and the line breaks due before whatever comes next."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._breaks = 0

    def write(self, text: str) -> None:
        if text.strip() or not self._breaks:
            self._parts.append("\n" * self._breaks + text)
            self._breaks = 0

    def step_over(self, name: str) -> None:
        """Pass the beginning or the end of an element. Breaks of neighbours don't add up."""
        if name == "br":
            self._parts.append("\n" * (self._breaks + 1))
            self._breaks = 0
        elif name in {"td", "th"}:
            self.write(" ")
        elif name in _PARAGRAPHS:
            self._breaks = 2
        elif name in _BLOCKS:
            self._breaks = max(self._breaks, 1)

    def text(self) -> str:
        whole = clean_text("".join(self._parts))
        lines = (_BLANKS.sub(" ", line).strip() for line in whole.split("\n"))
        return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def html_to_text(html: str) -> str:
    """The visible text of `html`, one line per block, at most one blank line in a row.

    Scripts, styles, templates, comments and elements hidden by attribute or inline style are
    left out: what a person cannot see must not speak to an agent. Alternative texts of
    images are left out too. Only the first 500,000 characters are read, in linear time.
    Never raises.
    """
    page = _Page()
    elements = _Elements()
    for kind, value, hidden in _tokens(html[:MAX_HTML_CHARS]):
        if elements.hidden:
            pass
        elif kind == "text":
            page.write(value if elements.is_open("pre") else _WHITE_SPACE.sub(" ", value))
        else:
            page.step_over(value)
        if kind == "open" and value not in _VOID:
            elements.open(value, hidden=hidden)
        elif kind == "close":
            elements.close(value)
    return page.text()


def _tokens(html: str) -> Iterator[_Token]:
    """Text and tags in order. Comments and the contents of scripts and the like are skipped."""
    position = 0
    while position < len(html):
        start = html.find("<", position)
        if start != position:
            yield _Token("text", unescaped(html[position : start if start >= 0 else None]))
            if start < 0:
                return
        if remark := _REMARK.match(html, start):
            position = remark.end()
        elif tag := _TAG_START.match(html, start):
            name = tag[2].lower()
            hidden, position = _attributes(html, tag.end())
            if position < 0:
                return
            yield _Token("close" if tag[1] else "open", name, hidden or name == "template")
            if not tag[1] and name in _RAW_END:
                end = _RAW_END[name].search(html, position)
                position = end.start() if end else len(html)
        else:
            yield _Token("text", "<")
            position = start + 1


def _attributes(html: str, position: int) -> tuple[bool, int]:
    """Whether a tag's attributes hide its element, and where the tag ends.

    The end is -1 for a tag that is never closed: it swallows the rest, as in a browser.
    """
    hidden = False
    while attribute := _ATTRIBUTE.match(html, position):
        name = attribute[1].lower()
        if name == "style":
            style = unescaped(attribute[2] or attribute[3] or attribute[4] or "").lower()
            hidden = hidden or _HIDING_STYLE.search(_WHITE_SPACE.sub("", style)) is not None
        hidden = hidden or name == "hidden"
        position = attribute.end()
    end = _TAG_END.match(html, position)
    return hidden, end.end() if end else -1

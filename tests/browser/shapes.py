"""What of a page decides how it looks and what axe-core says of it: its elements, without what they
say and which rows they are about. Most pages of the admin are one template over another model, so
of pages of one shape one is looked over.
"""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

SIDEBAR = "nav-sidebar"
# Values that name something: whether there is one counts, and which host a link leads to.
NAMES = re.compile(
    "(href|src|action|formaction|value|name|title|alt|placeholder|content|nonce|datetime|aria-label)"
    "|(data|hx)-.*"
)
# Values that belong together within a page: a label without its field is another shape.
LINKED = re.compile("id|for|list|form|aria-(labelledby|describedby|controls|owns)")
# By the model: no rule of style is about one.
OF_A_MODEL = re.compile(r"(?<!\S)(app|model)-\S*")
# A word may be too wide for a phone from some 30 letters on, a line that does not break from 40 on.
WORD, LINE = 24, 40


@dataclass(frozen=True)
class Shape:
    """The elements of a page in their order. The sidebar is on all pages, and another of its links
    is the present one on each: of it, which elements there are."""

    page: tuple[str, ...]
    sidebar: frozenset[str]


@dataclass(kw_only=True)
class Seen:
    """The shapes that were looked over already."""

    pages: set[Shape] = field(default_factory=set)
    sidebars: set[frozenset[str]] = field(default_factory=set)

    def note(self, shape: Shape) -> None:
        self.pages.add(shape)
        self.sidebars.add(shape.sidebar)


def read_shape(page: str) -> Shape:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return Shape(tuple(reader.page), frozenset(reader.sidebar))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page: list[str] = []
        self.sidebar: list[str] = []
        self._links: dict[str, str] = {}
        self._inside: list[str] = []  # the sidebar's elements of its own kind that are open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id") == SIDEBAR or tag in self._inside[:1]:
            self._inside.append(tag)
        shown = (
            f"{name}={self._shown(name, value or '')}" for name, value in sorted(given.items())
        )
        self._part(" ".join([tag, *shown]))

    def handle_endtag(self, tag: str) -> None:
        self._part(f"/{tag}")
        if tag in self._inside[:1]:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if words := data.split():
            self._part(f"text {len(' '.join(words)) // LINE} {max(map(len, words)) // WORD}")

    def _part(self, text: str) -> None:
        (self.sidebar if self._inside else self.page).append(text)

    def _shown(self, name: str, value: str) -> str:
        if LINKED.fullmatch(name) and not self._inside:
            return " ".join(
                self._links.setdefault(one, f"#{len(self._links)}") for one in value.split()
            )
        if LINKED.fullmatch(name) or NAMES.fullmatch(name):
            return f"{bool(value.strip())} {urlsplit(value).netloc if '//' in value else ''}"
        return OF_A_MODEL.sub("", value) if name == "class" else value

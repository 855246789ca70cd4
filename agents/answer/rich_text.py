"""An answer as HTML that pages may show as it is: its markdown, and its citations as links.

One function for an answer that has just ended and for one that is read again, so both are the same
page. HTML in an answer is text, images are links, and a link is one only where it is plain where
it leads: then its host stands behind it. What the parser makes is cleaned again by another
program, which knows the few tags that are let through.
"""

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlencode

import nh3
from django.urls import reverse
from django.utils.html import escape
from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLink
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from agents.answer import citations
from guardrails.facts import links as facts
from guardrails.facts.text import visible

LONGEST = 20_000  # characters that are parsed; what is longer is shown as it is written
HIGHEST = 3  # headings of the page itself
BLOCKS = {"p", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "hr", "br"}
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
WORDS = {"strong", "em", "s", "code", "a", "small"}
BESIDE = {"rel": "noopener noreferrer", "target": "_blank"}


def render_answer(text: str, cited: Iterable[Mapping[str, Any]] = (), *, turn_id: object) -> str:
    """The HTML of an answer of this turn, in which the numbers of what it cites lead to that. The
    text is clean already (`agents.answer.links`). No query."""
    plain = visible(text)
    if len(plain) > LONGEST:
        return _clean(f"<pre>{escape(plain)}</pre>")
    pages = {item["n"]: _page(item, turn_id) for item in cited}
    return _clean(MARKDOWN.render(plain, {"pages": pages}))


def _page(item: Mapping[str, Any], turn_id: object) -> str:
    about = urlencode({"turn": turn_id, "n": item["n"]})
    return f"{reverse('console-item', args=[item['id']])}?{about}#passage"


def _leads_to(url: str) -> str:
    """The host of a plain web address; empty for any other."""
    found = facts.hosts(url)
    host, *others = found or {facts.UNKNOWN}
    return "" if others or not url.startswith(("https://", "http://")) else host


def _cite(state: StateInline, silent: bool) -> bool:
    """`[1, 3]`, where both stand for something."""
    pages = state.env["pages"]
    if not pages or state.src[state.pos] != "[":
        return False
    found = citations.MARK.match(state.src, state.pos)
    if found is None:
        return False
    numbers = citations.list_numbers(found["numbers"])
    if not all(n in pages for n in numbers):
        return False
    if not silent:
        _add_text(state, "[")
        for at, n in enumerate(numbers):
            _add_text(state, ", " if at else "")
            state.push("link_open", "a", 1).attrs = {"class": "citation", "href": pages[n]}
            _add_text(state, str(n))
            state.push("link_close", "a", -1)
        _add_text(state, "]")
    state.pos = found.end()
    return True


def _add_text(state: StateInline, content: str) -> None:
    state.push("text", "", 0).content = content


class _Renderer(RendererHTML):
    def heading_open(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        return f"<{_lower(tokens[at].tag)}>"

    def heading_close(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        return f"</{_lower(tokens[at].tag)}>\n"

    def fence(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        return f"<pre><code>{escape(tokens[at].content)}</code></pre>\n"

    def image(
        self, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
    ) -> str:
        """What it shows, and a link to it: nothing is loaded because an answer is read."""
        token = tokens[at]
        url = str(token.attrs["src"])
        words = self.renderInlineAsText(token.children, options, env) or "image"
        if _is_in_link(tokens, at):
            return escape(words)
        return f'<a href="{escape(url)}">{escape(words)}</a>{_host(url)}'

    def link_open(
        self, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
    ) -> str:
        tokens[at].attrs.pop("title", None)  # words that nobody sees
        return self.renderToken(tokens, at, options, env)

    def link_close(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        opened = next(
            tokens[before]
            for before in range(at - 1, -1, -1)
            if tokens[before].type == "link_open"  # no link is inside another
        )
        url = str(opened.attrs["href"])
        shows_it = opened.info == "auto" or opened.attrs.get("class") == "citation"
        return "</a>" if shows_it else f"</a>{_host(url)}"


def _is_in_link(tokens: Sequence[Token], at: int) -> bool:
    kinds = (tokens[before].type for before in range(at - 1, -1, -1))
    return next((kind == "link_open" for kind in kinds if kind.startswith("link_")), False)


def _lower(tag: str) -> str:
    return f"h{min(6, HIGHEST + int(tag[1:]))}"


def _host(url: str) -> str:
    return f" <small>({escape(_leads_to(url))})</small>"


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer)
    # What hides a character or a tag behind others is text, as it is written.
    parser.enable(["table", "strikethrough"]).disable(["entity", "html_inline", "html_block"])
    parser.inline.ruler.before("link", "citation", _cite)
    parser.validateLink = lambda url: bool(_leads_to(url))  # type: ignore[method-assign]
    # An address is written as it is asked for: in no other letters.
    parser.normalizeLinkText = normalizeLink  # type: ignore[assignment,method-assign]
    return parser


def _keep(tag: str, name: str, value: str) -> str | None:
    """An attribute, where it may stay: an address of the web, or the page of an item."""
    if name != "href":
        return value
    own = value.startswith(reverse("console") + "items/")
    return value if own or _leads_to(value) else None


MARKDOWN = _make_parser()
_CLEANER = nh3.Cleaner(
    tags=BLOCKS | TABLES | WORDS,
    attributes={"a": {"href"}, "ol": {"start"}},
    allowed_classes={"a": {"citation"}},
    set_tag_attribute_values={"a": {"target": BESIDE["target"]}},
    link_rel=BESIDE["rel"],
    url_schemes={"http", "https"},
    url_relative="pass_through",
    attribute_filter=_keep,
    generic_attribute_prefixes=set(),
)


def _clean(html: str) -> str:
    return _CLEANER.clean(html).strip()

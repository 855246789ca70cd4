"""Answers as HTML: what is shown, and what a stranger's markdown comes to."""

from uuid import UUID

import pytest

from agents.answer.rich_text import LONGEST, render_answer

ITEM = UUID(int=7)
TURN = UUID(int=8)
CITED = [{"n": 1, "id": str(ITEM)}, {"n": 3, "id": str(ITEM)}]
BESIDE = 'target="_blank" rel="noopener noreferrer"'


def link(url: str, words: str) -> str:
    return f'<a href="{url}" {BESIDE}>{words}</a>'


def render(text: str) -> str:
    return render_answer(text, CITED, turn_id=TURN)


def cite(n: int) -> str:
    page = f"/console/items/{ITEM}?turn={TURN}&amp;n={n}#passage"
    return f'<a class="citation" href="{page}" {BESIDE}>{n}</a>'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "It **is**\n*so* `a<b`",
            "<p>It <strong>is</strong><br>\n<em>so</em> <code>a&lt;b</code></p>",
        ),
        ("# Title\n\n###### Low", "<h4>Title</h4>\n<h6>Low</h6>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("3. c", '<ol start="3">\n<li>c</li>\n</ol>'),
        ("> said\n\n---", "<blockquote>\n<p>said</p>\n</blockquote>\n<hr>"),
        ("```js\n[1] <b>\n```", "<pre><code>[1] &lt;b&gt;\n</code></pre>"),
        ("    [1]", "<pre><code>[1]\n</code></pre>"),
        (
            "|a|\n|:-|",
            "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n</table>",
        ),
        ("~~b~~", "<p><s>b</s></p>"),
        ("", ""),
    ],
)
def test_markdown_is_shown_as_it_is_meant(text: str, html: str) -> None:
    assert render(text) == html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Due [1].", f"Due [{cite(1)}]."),
        ("Due [1, 3].", f"Due [{cite(1)}, {cite(3)}]."),
        ("**[3]**", f"<strong>[{cite(3)}]</strong>"),
        ("[1](https://evil.com/x)", f"[{cite(1)}]"),
        ("[2] and [1, 2]", "[2] and [1, 2]"),
        ("`[1]`", "<code>[1]</code>"),
        ("[see [1]](https://a.com)", f"[see [{cite(1)}]](https://a.com)"),
    ],
)
def test_a_citation_leads_to_what_it_stands_for(text: str, html: str) -> None:
    assert render(text) == f"<p>{html}</p>"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("[a](https://b.com/x)", f"{link('https://b.com/x', 'a')} <small>(b.com)</small>"),
        (
            "[bank.com](https://b.com)",
            f"{link('https://b.com', 'bank.com')} <small>(b.com)</small>",
        ),
        ("<https://b.com/x>", link("https://b.com/x", "https://b.com/x")),
        ('[a](https://b.com "x")', f"{link('https://b.com', 'a')} <small>(b.com)</small>"),
        ("![a **b**](https://b.com)", f"{link('https://b.com', 'a b')} <small>(b.com)</small>"),
        ("![](https://b.com)", f"{link('https://b.com', 'image')} <small>(b.com)</small>"),
        (
            "[![a](https://b.com/x.png)](https://c.com)",
            f"{link('https://c.com', 'a')} <small>(c.com)</small>",
        ),
        ("https://b.com", "https://b.com"),
    ],
)
def test_a_link_says_where_it_leads_and_an_image_is_not_loaded(text: str, html: str) -> None:
    assert render(text) == f"<p>{html}</p>"


@pytest.mark.parametrize(
    "text",
    [
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](data:image/png;base64,AAAA)",
        "![a](data:image/svg+xml;base64,AAAA)",
        "[a](vbscript:x)",
        "[a](file:///etc/passwd)",
        "[a](mailto:a@b.com)",
        "[a](//evil.com/x)",
        "[a](/admin/)",
        "[a](/console/items/1)",
        "[a](#log)",
        "[a](https://b.com@evil.com/)",
        "[a](https://xn--bnk-6cd.com)",
        "[a](https://10.0.0.1/)",
        "[a](https:evil.com)",
    ],
)
def test_what_leads_elsewhere_is_no_link(text: str) -> None:
    assert render(text) == f"<p>{text}</p>"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("<a href=https://b.com>x</a>", "&lt;a href=https://b.com&gt;x&lt;/a&gt;"),
        ("<javascript:alert(1)>", "&lt;javascript:alert(1)&gt;"),
        ("<a@b.com>", "&lt;a@b.com&gt;"),
        ("a &lt;b&gt; &#x202e;", "a &amp;lt;b&amp;gt; &amp;#x202e;"),
        ("pay\u202eer \u200f`\u202e`", "pay⟨U+202E⟩er ⟨U+200F⟩<code>⟨U+202E⟩</code>"),
        ("**<b>**", "<strong>&lt;b&gt;</strong>"),
    ],
)
def test_html_and_hidden_characters_are_text(text: str, html: str) -> None:
    assert render(text) == f"<p>{html}</p>"


@pytest.mark.parametrize("unit", ["> ", "- ", "**a ", "[", "![", "<b>", "[1](", "|a"])
def test_an_answer_that_is_too_long_is_shown_as_it_is_written(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))

    html = render(text)

    shown = text.replace("<", "&lt;").replace(">", "&gt;")
    assert html == f"<pre>{shown}</pre>"


@pytest.mark.parametrize("unit", ["> ", "- ", "[", "![", "**a "])
def test_what_is_nested_too_deep_still_ends(unit: str) -> None:
    assert render((unit * LONGEST)[:LONGEST]).count("<a ") == 0

"""Two pages are of one shape only if nothing differs that could be wrong with one of them."""

import pytest

from tests.browser.shapes import read_shape

PAGE = """<!doctype html><body class="wide app-agents model-turn">
<div id="nav-sidebar"><div><a href="/a" class="on">A</a></div>
<div><a href="/b">B</a></div></div><main><label for="one">Name</label><input id="one" name="n">
<a href="/x/1/" title="Open it">First row</a></main></body>"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/x/1/", "/x/2/"),
        ("First row", "Other row"),
        ("Open it", "Show it"),
        ("one", "two"),
        ('name="n"', 'name="m"'),
        ("First row", "Unbreakable-row"),
        ("app-agents model-turn", "app-audit model-leaf"),
        ('<a href="/a" class="on">A</a></div>\n<div><a href="/b">B', '<a href="/a">A</a></div>\n'
         '<div><a href="/b" class="on">B'),
    ],
)  # fmt: skip
def test_another_row_is_of_the_same_shape(old: str, new: str) -> None:
    assert old in PAGE
    assert read_shape(PAGE.replace(old, new)) == read_shape(PAGE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("First row", ""),
        ("First row", "An-unbreakable-word-of-31-letters"),
        ("First row", "First row " * 9),
        ("<main>", '<main class="pale">'),
        ("<main>", '<main style="color: #eee">'),
        ("<main>", '<main role="alert">'),
        ('title="Open it"', 'title=""'),
        ('for="one"', 'for="two"'),
        ("<main>", '<main><b id="one">twice</b>'),
        ("/x/1/", "https://elsewhere.example/x/1/"),
        ("/x/1/", "//elsewhere.example/x/1/"),
        ('"wide ', '"narrow '),
        ("A</a>", "A</a><a></a>"),
        ('<a href="/b">', '<a href="/b" class="off">'),
    ],
)
def test_what_could_be_wrong_is_another_shape(old: str, new: str) -> None:
    assert old in PAGE
    assert read_shape(PAGE.replace(old, new)) != read_shape(PAGE)

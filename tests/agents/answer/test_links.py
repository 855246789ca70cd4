"""Nothing of a stranger's leads out of an answer."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from agents.answer.links import deaden, hosts_in_results, hosts_of, leads_out, split_ready

GOOD = {"good.com"}
PIECES = (
    *("https://", "http:", "//", "evil.com", "good.com", "/x", "[", "]", "(", ")", "!", "<", ">"),
    *("a", "\n", " ", ": ", "[r]:", "www.", "&#58;", "&colon;", "@", "javascript:", "data:"),
    *("img src=", '"', "`", "\\", "url(", "。", ".", "1.2.3.4", "\u200b", "ftp:", "\ue000"),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("![x](https://evil.example/a.png?d=1)", "x (evil[.]example)"),
        ('See [Sign in](https://evil.example/in "t") now.', "See Sign in (evil[.]example) now."),
        ("[![a](https://e.com/x.png)](https://f.com/)", "a (e[.]com) (f[.]com)"),
        ("<img src=https://evil.example/x>", "(img src=evil[.]example/x)"),
        ("<https://evil.example/x>", "(evil[.]example/x)"),
        ("[text][a]\n\n[a]: https://evil.example/x", "text\n\na: evil[.]example/x"),
        ("https://evil.example/x and www.evil.com", "evil[.]example/x and www[.]evil[.]com"),
        ("https&#58;//evil.example/x", "evil[.]example/x"),
        ("[x](javascript:alert(1))", "x"),
        ("//evil.example/x", "evil[.]example/x"),
        ("[https://good.com](https://evil.com)", "https://good.com (evil[.]com)"),
        ("[x](https://good.com@evil.com/)", "x"),
        ("[x](/admin) [y](//evil.com)", "x y (evil[.]com)"),
        ("http://1.2.3.4/a", "1[.]2[.]3[.]4/a"),
        (
            "Laut [1] [2] steht es auf https://böse.example/",
            "Laut [1] [2] steht es auf böse[.]example/",
        ),
    ],
)
def test_a_foreign_link_is_its_words_with_the_host(text: str, expected: str) -> None:
    assert deaden(text, GOOD) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Write to ada@client.com about notes.md and PROJ-101 [1].",
        "[ok](https://good.com/x?a=b) ![ok](https://good.com/x.png) <https://good.com/>",
        "Ask at https://good.com/path, a < b, and c > d.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
    ],
)
def test_everything_else_stays_as_it_is(text: str) -> None:
    assert deaden(text, GOOD) == text


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text())
def test_nothing_leads_anywhere_else_however_it_is_written(text: str) -> None:
    assert not leads_out(deaden(text, GOOD), GOOD)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_what_is_passed_on_while_it_is_written_is_all_of_it_in_order(text: str) -> None:
    ready, rest = split_ready(text)

    assert ready + rest == text


def test_a_link_waits_until_it_is_whole() -> None:
    assert split_ready("See [Sign in](https://evil.exa") == ("See ", "[Sign in](https://evil.exa")
    assert split_ready("See ![a b](https://e.com/x) now ok") == (
        "See ![a b](https://e.com/x) now ",
        "ok",
    )
    assert split_ready("x" * 2000) == ("x" * 2000, "")


def test_trusted_are_hosts_that_are_plain_and_those_where_something_was_done() -> None:
    assert hosts_of("see https://good.com/x and https://a@b/") == {"good.com"}
    done: list[dict[str, Any]] = [
        {"result": {"task_key": "P-1", "url": "https://jira.good.com/P-1"}, "artifacts": []},
        {"result": None, "artifacts": [{"url": "https://files.good.com/1"}]},
    ]
    assert hosts_in_results(done) == {"jira.good.com", "files.good.com"}

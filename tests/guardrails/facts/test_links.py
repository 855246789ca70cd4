"""What programs make links of is found, and where it leads is known only when it is plain."""

import pytest

from guardrails.facts import links


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("See https://company.com.", {"company.com"}),
        ("(https://company.com/a)", {"company.com"}),
        ("HTTPS://COMPANY.COM:8443/x", {"company.com"}),
        ("Visit www.company.com today", {"www.company.com"}),
        ("https:evil.com", {"evil.com"}),
        ("xhttps://evil.com", {"evil.com"}),
        ("//evil.com/a.png", {"evil.com"}),
        ("evil.md/x", {"evil.md"}),
        ("evil.com", {"evil.com"}),
        # Two links in a row, one hiding behind the other.
        ("[https://company.com](https://evil.com/?d=1)", {"company.com", "evil.com"}),
        ("https://company.com/?u=https://evil.com", {"company.com", "evil.com"}),
        # Markdown and HTML, images too.
        ("![x](//evil.com/a.png)", {"evil.com"}),
        ("![x](a.png)", {links.UNKNOWN}),
        ("[a]: evil.example/x", {links.UNKNOWN, "evil.example"}),
        ("<img src='https://evil.example/x'>", {"evil.example"}),
        ("<a href=/x>", {links.UNKNOWN}),
        ("<div style='background:url(x)'>", {links.UNKNOWN}),
        # What is hidden, written otherwise or escaped.
        ("ｅｖｉｌ．com", {"evil.com"}),  # noqa: RUF001
        ("evil\u200b.com", {"evil.com"}),
        ("&#104;ttps://evil.com", {"evil.com"}),
        # Hosts that nobody can tell plainly.
        ("https://company.com@evil.com/x", {links.UNKNOWN}),
        ("https://company.com\\@evil.com", {links.UNKNOWN}),
        ("https://company.com'@evil.com", {links.UNKNOWN}),
        ("еvil.com/x", {links.UNKNOWN}),  # noqa: RUF001
        ("https://xn--evl-cpa.com", {links.UNKNOWN}),
        ("1.2.3.4/x", {links.UNKNOWN}),
        ("http://[::1]/", {links.UNKNOWN}),
        ("javascript:alert(1)", {links.UNKNOWN}),
        ("mailto:mallory@evil.example", {links.UNKNOWN}),
        ("app://open", {links.UNKNOWN}),
        # No links.
        ("ada@client.com and <ada@client.com>, john.de.smith@x.org", set()),
        ("main.py, notes.md, e.g. this. Data: five at 5.30 pm", set()),
        ("[see above] (really)", set()),
        ("", set()),
    ],
)
def test_where_a_text_leads_to(text: str, hosts: set[str]) -> None:
    assert links.hosts(text) == hosts


def test_tags_that_never_end_are_read_too() -> None:
    opened = "<p style='" * 50

    assert links.hosts(opened) == frozenset()
    assert links.hosts(f"{opened} href = ' /reset") == {links.UNKNOWN}
    assert links.hosts("<a href=" + " " * 500) == frozenset()


@pytest.mark.parametrize("mark", [".", "a", "\\"])
def test_what_is_longer_than_any_host_is_none_that_is_known(mark: str) -> None:
    behind = mark * links.MOST_AUTHORITY

    assert links.hosts(f"https://a.com{behind}") == {links.UNKNOWN}
    assert links.hosts(f"https://a.com{behind}/x") == {links.UNKNOWN}


def test_an_entity_of_countless_digits_is_read_as_browsers_do() -> None:
    assert links.unveiled(f"a&#{'9' * 5_000};b &#46; &#x2e;") == "a\ufffdb . ."


def test_a_letter_keeps_only_so_many_marks() -> None:
    assert links.unveiled("e\u0301") == "\xe9"
    assert links.unveiled("a" + "\u0323" * 100) == "\u1ea1" + "\u0323" * 29

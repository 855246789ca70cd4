"""Hostile text is read in one pass: what once took the square of its length, or for ever, is read
by a child that is killed after SECONDS of computing. Nothing is timed; its death is the failure.
`make bench NAME=hostile` looks for more.
"""

from collections.abc import Iterator

import pytest

from integrations.child import Child

SECONDS = 5  # of computing: most take a hundredth of it
MARKS = "\u0301\u0323"  # which have to be sorted
CASES = [  # parser, what is repeated, what stands before and behind it
    ("mail quotes", "\n", "Hello", ""),
    ("mail quotes", "\nOn 1 May 2026 at 10:01 2026 10:01", "Hello", ""),
    ("mail quotes", "\n" + "1" * 500, "Hello", ""),
    ("mail part's type", ";", '"', ""),
    ("mail part's name", ";", '"', ""),
    *(("mail HTML", one, "", "") for one in ("<a ", "<!--", '<a b="', "<div>", "</a>", "<", "&")),
    *(("mail HTML", one, "", "") for one in ('<p>"<a href="', "<![CDATA[", "<a/")),
    ("calendar events", "BEGIN:VEVENT\n", "", ""),
    ("whole mail", MARKS, "a", ""),
    ("words", MARKS, "a", ""),
    ("words", "\u0301\uff9e", "a", ""),  # what becomes a mark only then
    ("hosts", MARKS, "a", ""),
    ("hosts", "<p style='", "", " href = ' /reset"),
    ("hosts", " ", "<a href=", ""),
    ("hosts", "http:", "", ""),
    ("hosts", "(\\\\", "", ""),
    ("hosts", "9", "&#", ";"),
    ("links of an answer", "http:", "", ""),
    ("links of an answer", "(\\\\", "", "http://a.example"),
    ("links of an answer", " ", "[x](", ""),
    ("alert", "re:", "", ""),
    *(("alert text", one, "", "") for one in ("a", " ", "\u200b", "re:", "code ", "https://")),
    *(("alert text", one, "", "") for one in ("/=/=/=", "密", "é", "verify?t=", "1")),
    *(("times said", one, "", "") for one in ("9-", "de la ", "Friday at 12 ", "1.")),
    ("typed value", "x.y/=a ", "", ""),
    ("removal said", "-", "take ", ""),
    ("removal said", "a-", "take ", ""),
    ("removal said", "lass-", "", ""),
    ("words of an event's title", "lunch with Ann ", "", ""),
    ("claims", ",", "Envié ", ""),
    ("citations", " ", "a", "[9]"),
    ("answer in pieces", " ", "", ""),
]


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    running = Child("tests.parsers_child", seconds=SECONDS, wall_seconds=600)
    yield running
    running.close()


@pytest.mark.parametrize(("name", "piece", "before", "behind"), CASES)
def test_hostile_text_is_read_in_one_pass(
    child: Child, name: str, piece: str, before: str, behind: str
) -> None:
    assert child.ask((name, piece, before, behind)) == b"read"

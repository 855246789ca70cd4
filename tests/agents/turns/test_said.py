"""What a model has said so far, rendered while it is written."""

import re
from typing import Any
from uuid import UUID

from hypothesis import given, strategies as st

from agents.answer.links import deaden, split_ready
from agents.turns.said import SaidSoFar
from guardrails.facts import links
from tests.agents.answer.test_links import GOOD, PIECES

Event = tuple[int, str, dict[str, Any]]
TEXTS = ("**a** ", "\n\n- b\n", "[c](https://d.com/)")
EVENTS = [("text.delta", text) for text in TEXTS] + [
    (type, "") for type in ("text.restarted", "tool.started", "plan")
]


def event(number: int, type: str, text: str = "") -> Event:
    return number, type, {"text": text} if text else {}


def html(said: SaidSoFar, *events: Event) -> list[str | None]:
    return [data.get("html") for _, _, data in said.follow(events)]


def test_each_piece_carries_all_that_was_said_as_the_answer_will_be_shown() -> None:
    said = SaidSoFar(UUID(int=8))

    assert html(said, event(1, "text.delta", "It **is")) == ["<p>It **is</p>"]
    assert html(
        said,
        event(2, "text.delta", "** so"),
        event(3, "tool.started"),
        event(4, "text.delta", "> b"),
    ) == [
        None,
        None,
        "<p>It <strong>is</strong> so</p>\n<blockquote>\n<p>b</p>\n</blockquote>",
    ]
    again = html(said, event(5, "text.restarted"), event(6, "plan"))
    assert again == ["<p>It <strong>is</strong> so</p>", None]


@given(st.lists(st.sampled_from(EVENTS), min_size=1, max_size=12), st.integers(0, 12))
def test_who_follows_piece_by_piece_and_who_comes_later_see_the_same(
    given: list[tuple[str, str]], at: int
) -> None:
    events = [event(number, *one) for number, one in enumerate(given, 1)]
    early, late = SaidSoFar(UUID(int=8)), SaidSoFar(UUID(int=8))

    seen = [one for each in events for one in html(early, each) if one is not None]
    found = [*html(late, *events[:at]), *html(late, *events[at:])]

    assert seen[-1:] == [one for one in found if one is not None][-1:]


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_pieces_that_were_cleaned_each_for_itself_make_no_link_together(pieces: list[str]) -> None:
    said, waiting, shown = SaidSoFar(UUID(int=8)), "", ""
    for number, piece in enumerate([*pieces, " "]):
        ready, waiting = split_ready(waiting + piece)
        [found] = html(said, event(number, "text.delta", deaden(ready, GOOD)))
        shown = found or ""

        for address in re.findall(r'href="([^"]*)"', shown):
            assert links.hosts(address) <= GOOD, (shown, pieces)

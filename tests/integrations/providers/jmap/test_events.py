"""Server-sent events, however the network cuts them."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from integrations.exceptions import Malformed
from integrations.providers.jmap import events
from integrations.providers.jmap.events import Event, read

SAID = (
    b": a remark\r\n\r\nevent: ping\ndata: {}\n\nid: 7\nevent: state\rdata: one\rdata:two\r\r"
    b"data:  kept\nretry\n\nevent: nothing\n\n\r\nevent: late\ndata: never ends"
)
FOUND = [Event("ping", "{}"), Event("state", "one\ntwo"), Event("message", " kept")]


@given(st.lists(st.integers(min_value=0, max_value=len(SAID)), max_size=20))
def test_events_are_the_same_however_they_are_cut(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(SAID)]
    chunks = [SAID[start:end] for start, end in pairwise(places)]

    assert list(read(chunks)) == FOUND


@pytest.mark.parametrize("endless", [b"a" * 100, b"data: a\n" * 20])
def test_an_event_without_end_is_given_up(endless: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_BYTES", 90)

    with pytest.raises(Malformed):
        list(read([endless] * 2))

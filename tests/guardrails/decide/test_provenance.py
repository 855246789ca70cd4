"""Where a value comes from, by the guard's own look-ups."""

import pytest
from hypothesis import given, strategies as st

from guardrails.contracts import Trigger
from guardrails.decide import provenance

CHAT_LIKE = ("chat", "operator")  # a person is there


def test_every_single_value_is_traced_however_deep_it_lies() -> None:
    arguments = {
        "to": ["a@x.com", "b@x.com", "c@x.com"],
        "subject": "Hi",
        "body": "",
        "n": None,
        "count": 30,
        "urgent": True,
        "at": {"start": "2026-03-02T10:00:00+01:00", "zones": ["UTC"]},
    }
    found = provenance.trace(
        provenance.values(arguments),
        trigger="chat",
        words="tell a@x.com and c@x.com within 30 minutes, UTC",
        proved={"A": {"to[0]"}, "T": {"to[1]"}},
    )
    assert found == {
        "to[0]": {"U", "A", "X"},
        "to[1]": {"T", "X"},
        "to[2]": {"U", "X"},
        "subject": {"X"},
        "count": {"U", "X"},
        "urgent": {"X"},
        "at.start": {"X"},
        "at.zones[0]": {"U", "X"},
    }


@pytest.mark.parametrize("trigger", [one for one in provenance.SOURCES if one not in CHAT_LIKE])
@given(words=st.text(), value=st.text(min_size=1))
def test_nothing_is_typed_in_a_turn_that_no_person_started(
    trigger: Trigger, words: str, value: str
) -> None:
    everywhere = {source: {"to"} for source in provenance.STRENGTH}
    found = provenance.trace(
        [("to", value)], trigger=trigger, words=f"{words} {value}", proved=everywhere
    )
    assert found["to"] == provenance.SOURCES[trigger] | {"X"}
    assert not found["to"] & {"U", "O", "R"}


def test_what_a_person_filled_in_is_theirs_whatever_began_it() -> None:
    found = provenance.trace(
        [("to[0]", "a@x.com")], trigger="webhook", words="", proved={}, edited={"to[0]"}
    )
    assert found == {"to[0]": {"U", "X"}}


@given(st.sets(st.sampled_from(provenance.STRENGTH)))
def test_the_strongest_source_is_named(sources: set[provenance.Provenance]) -> None:
    told = provenance.strongest(sources)
    rank = provenance.STRENGTH.index
    assert rank(told) == min(map(rank, sources | {"X"}))

"""How much speaks for a pattern: code counts it, and a word of a model is no part of it."""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from guardrails.learn import evidence

NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Row:
    side: str = "supporting"
    by_person: bool = True
    seen: bool = False
    occasion: str = ""


@dataclass(frozen=True, kw_only=True)
class Pattern:
    proposed_by: str = "repetition"
    tried_at: datetime | None = NOW
    approved_at: datetime | None = None


def alike(by_person: int, seen: int, *, occasion: str = "") -> tuple[Row, ...]:
    return (
        *(Row(occasion=f"day {day}") for day in range(by_person)),
        *(
            Row(by_person=False, seen=True, occasion=occasion or f"later {day}")
            for day in range(seen)
        ),
    )


@pytest.mark.parametrize(
    ("found", "is_enough"),
    [
        (alike(3, 0), True),
        (alike(2, 2), False),
        (alike(2, 3), True),
        (alike(1, 5), False),
        (alike(1, 6), True),
        (alike(0, 60), False),  # else the agent would learn from itself
        (alike(1, 60, occasion="2026-03-02"), False),
        ((*alike(2, 30), Row(side="contradicting")), False),
    ],
)
def test_what_the_user_saw_and_left_adds_to_what_they_did(
    found: tuple[Row, ...], is_enough: bool
) -> None:
    assert (evidence.find_lack(found) is None) is is_enough


ROWS = st.lists(
    st.builds(
        Row,
        side=st.sampled_from(["supporting", "contradicting", "undecided"]),
        by_person=st.booleans(),
        seen=st.booleans(),
        occasion=st.sampled_from(["a", "b", "c", "d"]),
    )
    | st.builds(Row, by_person=st.just(True), occasion=st.sampled_from(["a", "b", "c", "d"])),
    max_size=14,
)


@given(ROWS)
def test_it_is_enough_exactly_with_three_of_three_occasions_and_none_against(
    found: list[Row],
) -> None:
    hands = [one for one in found if one.side == "supporting" and one.by_person]
    left = [one for one in found if one.side == "supporting" and one.seen and not one.by_person]
    days = {one.occasion for one in hands + left}
    enough = (
        [one for one in found if one.side == "contradicting"] == []
        and hands != []
        and 3 * len(hands) + len(left) >= 9
        and len(days) >= 3
    )
    assert (evidence.find_lack(found) is None) is enough


@given(ROWS, st.sampled_from(["chat", "webhook", "repetition"]))
def test_a_person_first_approves_what_was_learned_with_enough_evidence_alone(
    found: list[Row], proposed_by: str
) -> None:
    refused = evidence.refuse_approval(Pattern(proposed_by=proposed_by), found)
    assert refused == evidence.find_lack(found)
    untried = Pattern(proposed_by=proposed_by, tried_at=None)
    assert str(evidence.refuse_approval(untried, found)) == evidence.UNTRIED


def test_what_an_operator_wrote_or_a_person_approved_before_needs_none() -> None:
    own, before = Pattern(proposed_by="operator"), Pattern(approved_at=NOW)
    against = (Row(side="contradicting"),)
    assert [evidence.refuse_approval(one, against) for one in (own, before)] == [None, None]
    assert [evidence.refuse_approval(one, ()) for one in (own, before)] == [None, None]
    assert evidence.refuse_approval(Pattern(proposed_by="operator", tried_at=None), ()) is not None

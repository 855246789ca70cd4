"""The newest word of a person about a label counts, for a while."""

from datetime import timedelta

from hypothesis import given, strategies as st

from guardrails.facts.corrections import COUNTS_FOR, Correction, find_standing
from tests.guardrails.values import NOW

LABEL, OTHER = "label_a", "label_b"
past = st.integers(min_value=0, max_value=200 * 24).map(lambda hours: NOW - timedelta(hours=hours))
corrections = st.lists(
    st.builds(
        Correction,
        label_id=st.sampled_from([LABEL, OTHER]),
        at=past,
        lifted_at=st.none() | past,
    ),
    max_size=5,
)


@given(found=corrections)
def test_a_correction_stands_while_it_is_the_newest_word_and_counts(
    found: list[Correction],
) -> None:
    words = [(one.at, "off") for one in found if one.label_id == LABEL]
    words += [(one.lifted_at, "on") for one in found if one.label_id == LABEL and one.lifted_at]
    at, word = max(words, default=(NOW - 2 * COUNTS_FOR, "on"))
    tied = (at, "off") in words
    wanted = at if (word == "off" or tied) and at > NOW - COUNTS_FOR else None
    assert find_standing(found, LABEL, now=NOW) == wanted


def test_it_counts_for_a_hundred_days_and_not_to_the_second_longer() -> None:
    found = [Correction(label_id=LABEL, at=NOW)]
    days, second = timedelta(days=100), timedelta(seconds=1)
    assert find_standing(found, LABEL, now=NOW + days - second) == NOW
    assert find_standing(found, LABEL, now=NOW + days) is None

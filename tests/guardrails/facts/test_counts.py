"""A sliding window, exact to the microsecond."""

from datetime import datetime, timedelta

from hypothesis import assume, given, strategies as st

from guardrails.facts.counts import Counts, Question, Tally, tally
from tests.guardrails.values import NOW

HOUR = timedelta(hours=1)
HOURLY = Question(what="actions", per="hour", max=7)


def minutes(*ago: int) -> list[tuple[datetime, float]]:
    return [(NOW - timedelta(minutes=one), 1.0) for one in ago]


def test_the_limit_itself_is_kept() -> None:
    found = tally(HOURLY, own=1, before=minutes(1, 2, 3, 4, 5, 6))
    assert (found.count, found.within, found.again) == (7, True, None)


def test_one_more_is_possible_when_the_oldest_has_left() -> None:
    found = tally(HOURLY, own=1, before=minutes(1, 2, 3, 4, 5, 6, 50))
    assert (found.count, found.within) == (8, False)
    assert found.again == NOW + timedelta(minutes=10)


def test_what_is_too_much_by_itself_never_becomes_possible() -> None:
    question = Question(what="sum", per="day", max=100, field="amount")
    found = tally(question, own=101, before=[])
    assert (found.within, found.again) == (False, None)


def test_what_adds_nothing_is_always_possible() -> None:
    assert tally(HOURLY, own=0, before=minutes(*range(20))).within


times = st.lists(
    st.tuples(st.integers(0, 3_599_999_999), st.integers(1, 5)),
    max_size=12,
    unique_by=lambda a: a[0],
)


@given(times, st.integers(1, 5), st.integers(1, 20))
def test_again_is_the_first_moment_at_which_there_is_room(
    given_times: list[tuple[int, int]], own: int, most: int
) -> None:
    question = Question(what="new_receivers", per="hour", max=most)
    before = sorted(
        ((NOW - timedelta(microseconds=ago), float(weight)) for ago, weight in given_times),
        reverse=True,
    )
    found = tally(question, own=own, before=before)

    def count_at(moment: datetime) -> float:
        return own + sum(weight for at, weight in before if at > moment - HOUR)

    assert found.count == count_at(NOW)
    assert found.within == (count_at(NOW) <= most)
    assume(not found.within and own <= most)
    assert found.again is not None
    assert count_at(found.again) <= most < count_at(found.again - timedelta(microseconds=1))


def test_another_limit_is_answered_by_the_same_count() -> None:
    counts = Counts(tallies=(Tally(question=HOURLY, own=1, count=6),))
    stricter = Question(what="actions", per="hour", max=5)
    found = counts.of(stricter)
    assert found == Tally(question=stricter, own=1, count=6)
    assert found is not None
    assert not found.within
    assert counts.of(Question(what="actions", per="day", max=5)) is None

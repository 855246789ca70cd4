"""When a thread that nobody answered is brought up again."""

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given, strategies as st

from agents.inbound.follow_ups import WORKING_DAYS, find_reminder, is_due
from guardrails.policies.thread_states import ThreadStates
from integrations.contracts import Email
from integrations.contracts.preferences import DAYS, Day

STATES = ThreadStates(
    to_reply="reply",
    awaiting_reply="await",
    labels=frozenset({"reply", "await", "up"}),
    follow_up="up",
)
FRIDAY = datetime(2026, 11, 6, 16, tzinfo=UTC)
WEEK = DAYS[:5]


@pytest.mark.parametrize(
    ("days", "later", "due"),
    [
        (WEEK, 4, False),  # Tuesday: two working days
        (WEEK, 5, True),
        (DAYS, 3, True),
        (("monday",), 17, True),  # three Mondays
        (("monday",), 16, False),
        ((), 99, False),
    ],
)
def test_it_is_due_after_three_of_the_users_own_working_days(
    days: tuple[Day, ...], later: int, due: bool
) -> None:
    assert is_due(FRIDAY, FRIDAY + timedelta(days=later), days=days) is due


@given(
    st.datetimes(timezones=st.just(UTC)).filter(lambda at: at.year < 9000),
    st.integers(-9, 60),
    st.sets(st.sampled_from(get_args(Day))),
)
def test_days_are_counted_one_by_one(sent: datetime, later: int, days: set[Day]) -> None:
    if sent + timedelta(days=later) < sent:
        assert not is_due(sent, sent + timedelta(days=max(later, -9)), days=days)
        return
    counted = sum(
        DAYS[(sent + timedelta(days=number)).weekday()] in days for number in range(1, later + 1)
    )
    assert is_due(sent, sent + timedelta(days=later), days=days) == (counted >= WORKING_DAYS)


def thread_of(*labels: list[str]) -> list[Email]:
    return [
        Email(id=f"m{n}", thread_id="t", date=FRIDAY + timedelta(hours=n), labels=tuple(each))
        for n, each in enumerate(labels)
    ]


def test_only_the_users_own_mail_that_still_waits_is_brought_up() -> None:
    assert find_reminder(thread_of(["INBOX"], ["SENT", "await"]), STATES) == ("m1", "up")
    assert find_reminder(thread_of(["SENT", "await"], ["INBOX"]), STATES) is None
    assert find_reminder(thread_of(["SENT", "up"]), STATES) is None
    assert find_reminder(thread_of(["reply"], ["SENT", "await"]), STATES) is None
    assert find_reminder(thread_of(["SENT", "await"], ["SENT", "TRASH"]), STATES) == ("m0", "up")
    assert find_reminder((), STATES) is None

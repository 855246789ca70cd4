from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from knowledge.contracts import SearchRequest, TimeFilter
from knowledge.search.queries import find_window

STOCKHOLM = ZoneInfo("Europe/Stockholm")


def request(time_filter: TimeFilter | None, **more: Any) -> SearchRequest:
    return SearchRequest(
        account_ids=(), query="", time_filter=time_filter, time_zone="Europe/Stockholm", **more
    )


@pytest.mark.parametrize(
    ("time_filter", "since", "until"),
    [
        ("today", (2026, 3, 11), (2026, 3, 12)),
        ("yesterday", (2026, 3, 10), (2026, 3, 11)),
        ("last_week", (2026, 3, 4), (2026, 3, 12)),
        ("last_month", (2026, 2, 9), (2026, 3, 12)),
    ],
)
def test_days_begin_at_midnight_where_the_user_is(
    time_filter: TimeFilter, since: tuple[int, int, int], until: tuple[int, int, int]
) -> None:
    # Half past eleven in the evening in London is the next day in Stockholm.
    now = datetime(2026, 3, 10, 23, 30, tzinfo=ZoneInfo("UTC"))

    assert find_window(request(time_filter), now=now) == (
        datetime(*since, tzinfo=STOCKHOLM),
        datetime(*until, tzinfo=STOCKHOLM),
    )


def test_the_day_the_clocks_change_has_23_hours() -> None:
    now = datetime(2026, 3, 29, 12, tzinfo=STOCKHOLM)

    since, until = find_window(request("today"), now=now)

    assert since is not None
    assert until is not None
    assert until.timestamp() - since.timestamp() == 23 * 3600


def test_a_custom_span_is_taken_as_it_is_and_may_be_open() -> None:
    since = datetime(2026, 1, 1, tzinfo=STOCKHOLM)

    assert find_window(request("custom", since=since), now=since) == (since, None)


def test_a_custom_span_without_a_zone_is_refused() -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001  # what is refused

    with pytest.raises(ValueError, match="time zone"):
        find_window(request("custom", since=naive), now=datetime(2026, 1, 1, tzinfo=STOCKHOLM))


def test_no_filter_is_no_bound() -> None:
    assert find_window(request(None), now=datetime(2026, 1, 1, tzinfo=STOCKHOLM)) == (None, None)

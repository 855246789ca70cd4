"""What stands in calendars."""

from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from integrations.contracts import AccountRef
from knowledge.search.agenda import (
    Meeting,
    find_conflicts,
    find_free,
    list_meetings,
    takes_time_of,
)
from tests.knowledge.office import account, event, take
from tests.model_server import ScriptedModel

STOCKHOLM = ZoneInfo("Europe/Stockholm")
MAYA = "maya@company.com"
HOURS = {day: (time(8), time(18)) for day in range(5)}


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


def meetings(owner: AccountRef, since: datetime, until: datetime) -> tuple[Meeting, ...]:
    return list_meetings(account_ids=[owner.id], own=[MAYA], since=since, until=until)


@pytest.fixture
def calendar(model: ScriptedModel) -> AccountRef:
    owner = account(source="calendar")

    def meet(id: str, start: str, end: str, **fields: Any) -> None:
        take(owner, event(id=id, title=id, start=start, end=end, **fields))

    meet("daily", "2026-03-09T08:00:00Z", "2026-03-09T08:15:00Z", recurrence="RRULE:FREQ=DAILY")
    meet("review", "2026-03-11T08:10:00Z", "2026-03-11T09:00:00Z")
    declined = [{"email": "Maya@company.com", "status": "declined"}]
    meet("declined", "2026-03-11T08:00:00Z", "2026-03-11T10:00:00Z", attendees=declined)
    meet("holiday", "2026-03-11T00:00:00Z", "2026-03-12T00:00:00Z", all_day=True)
    meet("cancelled", "2026-03-11T08:00:00Z", "2026-03-11T10:00:00Z", status="cancelled")
    return owner


@pytest.mark.django_db
def test_a_span_shows_every_event_that_touches_it_with_its_end_and_who_comes(
    calendar: AccountRef, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        found = meetings(calendar, at(11, 0), at(12, 0))

    assert [one.title for one in found] == ["holiday", "daily", "declined", "review"]
    review = found[3]
    assert (review.starts_at, review.ends_at) == (at(11, 8, 10), at(11, 9))
    assert review.attendees == (("ann@client.com", "Ann Berg", "accepted"),)
    assert [one.free for one in found] == [True, False, True, False]
    assert [(a.title, b.title) for a, b in find_conflicts(found)] == [("daily", "review")]
    assert takes_time_of(review, "Ann@client.com")
    assert not takes_time_of(found[1], MAYA)


@pytest.mark.django_db
def test_one_of_a_series_has_an_id_of_its_own(model: ScriptedModel) -> None:
    owner = account(source="calendar")
    series = {"start": "2026-03-03T09:00:00Z", "end": "2026-03-03T10:00:00Z"}
    take(owner, event(id="round", recurrence="RRULE:FREQ=WEEKLY", **series))
    take(owner, event(id="once", **series))
    days = {"start": "2026-03-03T00:00:00Z", "end": "2026-03-04T00:00:00Z", "all_day": True}
    zone = {"time_zone": "Europe/Stockholm", "recurrence": "RRULE:FREQ=YEARLY"}
    take(owner, event(id="day", **days, **zone))

    found = {(one.occurrence, one.starts_at) for one in meetings(owner, at(3, 0), at(11, 0))}

    assert found == {
        ("round_20260303T090000Z", at(3, 9)),
        ("round_20260310T090000Z", at(10, 9)),
        ("", at(3, 9)),
        ("day_20260303", at(2, 23)),
    }


@pytest.mark.django_db
def test_an_event_that_ends_as_the_span_begins_is_not_in_it(calendar: AccountRef) -> None:
    assert [one.title for one in meetings(calendar, at(10, 8, 15), at(10, 9))] == []
    assert [one.title for one in meetings(calendar, at(10, 8, 14), at(10, 9))] == ["daily"]


@pytest.mark.django_db
def test_nobody_elses_calendar_is_read(calendar: AccountRef) -> None:
    assert meetings(account(source="calendar"), at(1, 0), at(30, 0)) == ()


def free(*busy: tuple[datetime, datetime], minutes: int = 60, **more: Any) -> list[str]:
    span: dict[str, Any] = {"since": at(13, 0), "until": at(16, 23), "hours": HOURS} | more
    return [
        f"{begins:%a %H:%M}-{ends:%H:%M}"
        for begins, ends in find_free(busy, minutes=minutes, zone=STOCKHOLM, **span)
    ]


def test_free_slots_lie_in_the_working_days_of_the_zone() -> None:
    # The 13th is a Friday.
    assert free() == ["Fri 08:00-18:00", "Mon 08:00-18:00"]
    short = HOURS | {4: (time(9), time(13)), 5: (time(10), time(11, 30))}
    assert free(hours=short) == ["Fri 09:00-13:00", "Sat 10:00-11:30", "Mon 08:00-18:00"]
    assert free(since=at(13, 16), until=at(13, 16, 30)) == []
    assert free((at(13, 8), at(13, 9)), until=at(13, 20)) == ["Fri 08:00-09:00", "Fri 10:00-18:00"]
    overlapping = ((at(13, 6), at(13, 12)), (at(13, 8), at(13, 9)), (at(13, 12, 30), at(13, 17)))
    assert free(*overlapping, until=at(13, 20)) == []
    assert free(*overlapping, until=at(13, 20), minutes=30) == ["Fri 13:00-13:30"]


@given(
    st.lists(
        st.tuples(st.integers(0, 4000), st.integers(1, 600)).map(lambda one: (one[0], sum(one)))
    )
)
def test_no_free_slot_touches_what_is_busy_and_none_is_missed(spans: list[tuple[int, int]]) -> None:
    start = at(9, 0)
    minute = timedelta(minutes=1)
    busy = [(start + a * minute, start + b * minute) for a, b in spans]
    found = find_free(
        busy, since=start, until=start + 4320 * minute, minutes=15, zone=STOCKHOLM, hours=HOURS
    )

    for begins, ends in found:
        assert ends - begins >= 15 * minute
        assert all(b <= begins or a >= ends for a, b in busy)
    for moment in (start + step * 15 * minute for step in range(288)):
        local = moment.astimezone(STOCKHOLM)
        if local.hour < 8 or local.hour >= 18:
            continue
        taken = any(a < moment + 15 * minute and b > moment for a, b in busy)
        inside = any(b <= moment and moment + 15 * minute <= e for b, e in found)
        assert inside != taken

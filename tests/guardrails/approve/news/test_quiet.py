"""When quiet hours end, on the clocks of where the recipient is."""

from datetime import UTC, datetime, time

import pytest

from guardrails.approve.news.quiet import quiet_until


@pytest.mark.parametrize(
    ("now", "begins", "ends", "zone", "expected"),
    [
        ("2026-11-27T19:30", "20:00", "07:00", "Europe/Berlin", "2026-11-28T06:00"),
        ("2026-11-27T05:59", "20:00", "07:00", "Europe/Berlin", "2026-11-27T06:00"),
        ("2026-11-27T06:00", "20:00", "07:00", "Europe/Berlin", None),
        ("2026-11-27T12:30", "12:00", "13:00", "UTC", "2026-11-27T13:00"),
        ("2026-11-27T13:00", "12:00", "13:00", "UTC", None),
        ("2026-03-28T22:00", "20:00", "07:00", "Europe/Berlin", "2026-03-29T05:00"),
        ("2026-10-24T22:00", "20:00", "07:00", "Europe/Berlin", "2026-10-25T06:00"),
    ],
)
def test_they_end_on_the_clock_of_the_place(
    now: str, begins: str, ends: str, zone: str, expected: str | None
) -> None:
    found = quiet_until(
        datetime.fromisoformat(now).replace(tzinfo=UTC),
        begins=time.fromisoformat(begins),
        ends=time.fromisoformat(ends),
        zone=zone,
    )
    assert found == (datetime.fromisoformat(expected).replace(tzinfo=UTC) if expected else None)


def test_without_any_it_is_never_quiet() -> None:
    assert quiet_until(datetime.now(UTC), begins=None, ends=None, zone="UTC") is None

from datetime import UTC, datetime, timedelta

import pytest

from knowledge.versions import Version, is_stale

T = datetime(2026, 3, 10, 12, tzinfo=UTC)
BEFORE, AFTER = T - timedelta(minutes=1), T + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("new", "stored", "stale"),
    [
        ((2, None), (1, None), False),
        ((1, None), (2, None), True),
        ((1, AFTER), (2, BEFORE), True),  # numbers decide before times
        ((1, BEFORE), (1, T), True),
        ((1, T), (1, T), False),
        ((0, BEFORE), (5, T), True),
        ((0, AFTER), (5, T), False),
        ((0, None), (5, T), False),  # nothing to compare: the last to arrive counts
    ],
)
def test_an_older_version_is_stale(
    new: tuple[int, datetime | None], stored: tuple[int, datetime | None], stale: bool
) -> None:
    versions = [Version(number=number, updated_at=at) for number, at in (new, stored)]

    assert is_stale(versions[0], stored=versions[1], last_deleted_at=None) is stale


@pytest.mark.parametrize(
    ("updated_at", "stale"), [(BEFORE, True), (T, True), (AFTER, False), (None, True)]
)
def test_a_deleted_item_comes_back_only_with_a_later_time(
    updated_at: datetime | None, stale: bool
) -> None:
    new = Version(number=9, updated_at=updated_at)

    assert is_stale(new, stored=Version(number=1, updated_at=None), last_deleted_at=T) is stale


@pytest.mark.parametrize(
    ("new", "stored", "stale"),
    [
        ((1, AFTER), (7, BEFORE), False),  # restored, and numbered from 1 again
        ((7, BEFORE), (1, AFTER), True),  # from before the deletion, after the restored one
        ((2, AFTER), (1, AFTER), False),
        ((1, AFTER), (2, AFTER), True),
    ],
)
def test_a_restored_item_counts_by_what_came_after_its_deletion(
    new: tuple[int, datetime], stored: tuple[int, datetime], stale: bool
) -> None:
    versions = [Version(number=number, updated_at=at) for number, at in (new, stored)]

    assert is_stale(versions[0], stored=versions[1], last_deleted_at=T) is stale

"""What has to be done about a subscription, and when."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st

from integrations.accounts.subscriptions import RENEWED_BEFORE, next_step

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
ends = st.one_of(
    st.none(), st.integers(-10_000, 50_000).map(lambda minutes: NOW + timedelta(minutes=minutes))
)
ids = st.sampled_from(["", "7f105c7d"])


@given(wanted=st.booleans(), id=ids, expires_at=ends, challenged=st.booleans())
def test_one_that_is_wanted_is_open_and_one_that_is_not_is_closed(
    wanted: bool, id: str, expires_at: datetime | None, challenged: bool
) -> None:
    is_open = id != "" and expires_at is not None and expires_at > NOW
    step = next_step(
        is_wanted=wanted,
        external_id=id,
        expires_at=expires_at,
        is_challenged=challenged,
        now=NOW,
    )
    if not wanted:
        assert step == ("close" if is_open else None)
    elif not is_open:
        assert step == "open"
    else:
        soon = expires_at is not None and expires_at <= NOW + RENEWED_BEFORE
        assert step == ("renew" if challenged or soon else None)

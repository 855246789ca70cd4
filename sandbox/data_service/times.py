"""Instants as the contract writes them: UTC, microseconds, so that text sorts like time."""

from datetime import UTC, date, datetime, timedelta

_stopped_at: datetime | None = None


def now() -> datetime:
    """The present, or the moment at which the clock was stopped."""
    return _stopped_at or datetime.now(UTC)


def stop_clock(moment: datetime | None) -> None:
    """Have it be this moment from now on, for all sandboxes of this process; None: let time go
    on. What changes meanwhile still has a time of its own (`not_before`)."""
    global _stopped_at  # noqa: PLW0603 - there is one clock
    _stopped_at = moment


def instant_text(value: datetime) -> str:
    """`value` must know its zone."""
    text = value.astimezone(UTC).isoformat(timespec="microseconds")
    return text.replace("+00:00", "Z")


def instant(text: str) -> datetime:
    """Reads what `instant_text` wrote."""
    return datetime.fromisoformat(text)


def normal_instant(text: str) -> str:
    """An ISO 8601 time with a zone, in the contract's form. Raises ValueError."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError("give the time with its zone, such as 2026-03-01T09:00:00Z")
    return instant_text(value)


def normal_date(text: str) -> str:
    """An ISO 8601 date. Raises ValueError."""
    return date.fromisoformat(text).isoformat()


def not_before(moment: datetime, *, last: str) -> str:
    """`moment`, moved past `last` when the clock has not passed it: changes never tie."""
    return instant_text(max(moment, instant(last) + timedelta(microseconds=1)))

"""Which span of time a search means, in the user's own zone. Pure."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from knowledge.contracts import SearchRequest

_DAYS_BACK = {"today": 0, "yesterday": 1, "last_week": 7, "last_month": 30}


def window(request: SearchRequest, *, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The half-open span [since, until) of `request`; None is open.

    Days begin at midnight where the user is. last_week and last_month are the last 7 and 30
    days and today; every named span but yesterday ends with today, so that an event later
    today is in it. Raises ValueError for an unknown filter or a naive time.
    """
    if request.time_filter is None:
        return None, None
    if request.time_filter == "custom":
        if any(edge and edge.tzinfo is None for edge in (request.since, request.until)):
            raise ValueError("since and until need a time zone")
        return request.since, request.until
    if request.time_filter not in _DAYS_BACK:
        raise ValueError(f"unknown time filter {request.time_filter!r}")
    zone = ZoneInfo(request.time_zone)
    today = now.astimezone(zone).date()
    days = 1 if request.time_filter == "yesterday" else 0
    first = today - timedelta(days=_DAYS_BACK[request.time_filter])
    last = today - timedelta(days=days)
    return (
        datetime.combine(first, time(), zone),
        datetime.combine(last + timedelta(days=1), time(), zone),
    )

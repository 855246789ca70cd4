"""Quiet hours: when they end. Pure."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo


def quiet_until(
    now: datetime, *, begins: time | None, ends: time | None, zone: str
) -> datetime | None:
    """When the quiet hours end that it is in now; None outside of them, and without any.

    They are read on the clocks of `zone`, so a night is an hour longer or shorter where these
    are changed. Those that begin later than they end go over midnight.
    """
    if begins is None or ends is None:
        return None
    here = now.astimezone(ZoneInfo(zone))
    at = here.time()
    over_midnight = begins > ends
    if not (at >= begins or at < ends if over_midnight else begins <= at < ends):
        return None
    day = here.date() + timedelta(days=1 if at >= ends else 0)
    return datetime.combine(day, ends, tzinfo=here.tzinfo).astimezone(now.tzinfo)

"""Quiet hours: whether it is in any, and when they end. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Self
from zoneinfo import ZoneInfo

from integrations.contracts.preferences import DAYS, Day

MOST = timedelta(days=8)  # such hours end within a week, or never


@dataclass(frozen=True, kw_only=True)
class QuietHours:
    """From when to when nothing is sent, on the clocks of `zone`, on each of the `days` on which
    they begin. Those that begin later than they end go over midnight."""

    begins: time
    ends: time
    zone: str
    days: frozenset[Day] = frozenset(DAYS)

    @classmethod
    def read(
        cls, begins: time | None, ends: time | None, *, zone: str, days: Sequence[Day] = DAYS
    ) -> tuple[Self, ...]:
        """Out of columns of a row: one, or none where nothing is said."""
        if begins is None or ends is None:
            return ()
        return (cls(begins=begins, ends=ends, zone=zone, days=frozenset(days)),)

    def near(self, moment: datetime) -> Iterator[tuple[datetime, datetime]]:
        """Those that may hold this moment, in UTC. Where clocks are changed in them the wider
        reading counts: a time that is there twice begins them the first time and ends them the
        second time."""
        today = moment.astimezone(ZoneInfo(self.zone)).date()
        for day in (today + timedelta(days=number) for number in (-1, 0, 1)):
            if DAYS[day.weekday()] in self.days:
                last = day + timedelta(days=1 if self.begins >= self.ends else 0)
                yield min(self._moments(day, self.begins)), max(self._moments(last, self.ends))

    def _moments(self, day: date, at: time) -> list[datetime]:
        zone = ZoneInfo(self.zone)
        both = (datetime.combine(day, at.replace(fold=fold), tzinfo=zone) for fold in (0, 1))
        return [one.astimezone(UTC) for one in both]


def quiet_until(now: datetime, *hours: QuietHours) -> datetime | None:
    """When it is quiet no more by any of these hours; None where it is not quiet now. Hours that
    go over into each other are one. Some that together never end are cut after MOST."""
    until = now.astimezone(UTC)
    while until - now < MOST:
        ends = [end for one in hours for begin, end in one.near(until) if begin <= until < end]
        if not ends:
            break
        until = max(ends)
    return None if until == now else until

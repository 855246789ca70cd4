"""When an event takes place: each occurrence of a series within a span of time. Pure.

The rules come from strangers, so the work is bounded: nothing is expanded that recurs more than
daily, whose rule has no end of steps, or that would take place more than MAX_OCCURRENCES times.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from knowledge.times.recurrence_rules import (
    MAX_OCCURRENCES,
    NotExpandable,
    dates,
    ruled,
    taken_apart,
)

MAX_LINES = 50
MAX_RULES = 4
MAX_MOVED = timedelta(days=3_660)  # the rest of a series, away from where it would be


@dataclass(frozen=True, kw_only=True)
class Occurrence:
    starts_at: datetime  # UTC
    ends_at: datetime


@dataclass(frozen=True, kw_only=True)
class Rest:
    """The rest of a series, changed: from the one that would begin at `instead_of` on, each takes
    place as this one does (RANGE=THISANDFUTURE): by the clock as much earlier or later, as long."""

    instead_of: datetime
    start: datetime
    end: datetime
    all_day: bool


@dataclass(frozen=True, kw_only=True)
class Timetable:
    """When one event, or a series of them, takes place.

    `start` and `end` are aware; a series recurs in the zone of `start`. The whole days of an
    all-day event are those of `all_day_zone`. `except_at` are times at which one of a series
    would have begun, but takes place otherwise or not at all. Of a series that was changed from
    some time on, each part is a timetable of its own: up to `before`, and as its `rest`.
    """

    start: datetime
    end: datetime
    all_day: bool
    all_day_zone: tzinfo
    recurrence: str = ""
    except_at: Collection[datetime] = ()
    before: datetime | None = None
    rest: Rest | None = None


def occurrences(timetable: Timetable, *, since: datetime, until: datetime) -> list[Occurrence]:
    """Those that touch [since, until), earliest first. Raises NotExpandable."""
    rest = timetable.rest or timetable
    length = max(rest.end - rest.start, timedelta())
    if length > until - since and timetable.recurrence:
        raise NotExpandable("longer than any span that is asked for")
    moved = _moved(timetable)
    starts = [timetable.start]
    if timetable.recurrence:
        starts = _starts(timetable, since=since - length - moved, until=until - moved)
    if timetable.rest:
        starts.append(timetable.rest.instead_of)  # whether or not the series would name it
    excepted = {_instant(moment, timetable) for moment in timetable.except_at}
    zone, found = timetable.all_day_zone, {}
    for local in starts:
        at = _instant(local, timetable)
        if at in excepted or not _is_of(timetable, at):
            continue
        here = _placed(local, timetable, moved=moved)
        begin = _midnight(here, zone) if rest.all_day else here.astimezone(UTC)
        end = begin + length
        if rest.all_day:
            days = max(1, round(length / timedelta(days=1)))
            end = _midnight(here + timedelta(days=days), zone)
        if begin < until and (end > since or begin >= since):
            found[begin] = Occurrence(starts_at=begin, ends_at=end)
    return sorted(found.values(), key=lambda one: one.starts_at)


def _moved(timetable: Timetable) -> timedelta:
    """By how much the rest of the series is moved, by the clock."""
    if timetable.rest is None:
        return timedelta()
    moved = timetable.rest.start.replace(tzinfo=None) - _clock(timetable.rest.instead_of, timetable)
    if abs(moved) > MAX_MOVED:
        raise NotExpandable("moved too far")
    return moved


def _placed(local: datetime, timetable: Timetable, *, moved: timedelta) -> datetime:
    if timetable.rest is None:
        return local
    return (_clock(local, timetable) + moved).replace(tzinfo=timetable.rest.start.tzinfo)


def _clock(moment: datetime, timetable: Timetable) -> datetime:
    """What the clock shows then where the series recurs; of a whole day its own midnight."""
    if not timetable.all_day:
        moment = moment.astimezone(timetable.start.tzinfo)
    return moment.replace(tzinfo=None)


def _is_of(timetable: Timetable, at: datetime) -> bool:
    before, rest = timetable.before, timetable.rest
    if before is not None and at >= _instant(before, timetable):
        return False
    return rest is None or at >= _instant(rest.instead_of, timetable)


def _instant(local: datetime, timetable: Timetable) -> datetime:
    if timetable.all_day:
        return _midnight(local, timetable.all_day_zone)
    return local.astimezone(UTC)


def _midnight(day: datetime, zone: tzinfo) -> datetime:
    return datetime.combine(day.date(), time(), zone).astimezone(UTC)


def _starts(timetable: Timetable, *, since: datetime, until: datetime) -> list[datetime]:
    """The aware local times at which the series begins between `since` and `until`, each once.

    Rules are followed in local time without a zone, as RFC 5545 means them: a meeting at nine
    stays at nine when the clocks change.
    """
    zone = timetable.start.tzinfo or UTC
    first = timetable.start.replace(tzinfo=None)
    # A day more on either side: all-day events are moved to another zone afterwards.
    low = since.astimezone(zone).replace(tzinfo=None) - timedelta(days=1)
    high = until.astimezone(zone).replace(tzinfo=None) + timedelta(days=1)
    found: set[datetime] = set()
    without: set[datetime] = set()
    lines = [line.strip() for line in timetable.recurrence.splitlines() if line.strip()]
    if len(lines) > MAX_LINES:
        raise NotExpandable("too many rules")
    rules = 0
    for line in lines:
        name, parameters, value = taken_apart(line)
        if name in ("RDATE", "EXDATE"):
            named = dates(value, parameters, zone, first)
            (found if name == "RDATE" else without).update(named)
        elif name in ("RRULE", "EXRULE"):
            rules += 1
            if rules > MAX_RULES:
                raise NotExpandable("too many rules")
            times = ruled(value, first, zone, low=low, high=high)
            (found if name == "RRULE" else without).update(times)
        else:
            raise NotExpandable(f"unknown property {name[:20]!r}")
        if max(len(found), len(without)) > 2 * MAX_OCCURRENCES:
            raise NotExpandable("too often")
    # What a rule begins with takes place whether or not the rule itself would name it.
    found.add(first)
    within = {moment for moment in found - without if low <= moment < high}
    if timetable.all_day:
        out = {moment.date() for moment in without}
        within = {moment for moment in within if moment.date() not in out}
    if len(within) > MAX_OCCURRENCES:
        raise NotExpandable("too often")
    return [moment.replace(tzinfo=zone) for moment in sorted(within)]

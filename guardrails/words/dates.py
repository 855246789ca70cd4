"""The days that a text names, seen from the day it was said. Pure."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from guardrails.words.moments import YEARS
from guardrails.words.spots import Spot

Days = frozenset[date]
ORDINALS = frozenset({"st", "nd", "rd", "th", "er", "º", "°"})


class Named(NamedTuple):
    """Days that one phrase may mean, and where it ends."""

    end: int
    days: Days


def read_day(spots: Sequence[Spot], at: int, *, today: date, past: bool = False) -> Named | None:
    """The days that a phrase which begins here may mean: a weekday, a date, or both where they
    agree. `past` also takes days before today for what names no year. None: it is no day."""
    weekday = _weekday(spots, at, today=today, past=past)
    found: tuple[int, list[date]] | Named | None
    if weekday is None:
        if found := (_date(spots, at, today=today, past=past) or _relative(spots, at, today=today)):
            return found
        by_number = _day_of_month(spots, at, today=today)
        return by_number and Named(by_number[0], frozenset(by_number[1][:1]))
    after = _skip(spots, weekday.end, ("the",), (",", "(", "."))
    wanted = {day.weekday() for day in weekday.days}
    named = _date(spots, after, today=today, past=past)
    if named is None and (found := _day_of_month(spots, after, today=today)):
        end, days = found
        fitting = [day for day in days if day.weekday() in wanted][:1]
        return Named(end, frozenset(fitting))
    if named is None:
        return weekday
    # "Friday, 27 November": both must be so, or else nobody can tell which is meant.
    return Named(named.end, frozenset(day for day in named.days if day.weekday() in wanted))


def _weekday(spots: Sequence[Spot], at: int, *, today: date, past: bool) -> Named | None:
    spot = spots[at]
    which = "this"
    if spot.means("this", "next", "last") and at + 1 < len(spots):
        following = spots[at + 1]
        if following.means("weekday"):
            which = next(one.kind for one in spot.means("this", "next", "last"))
            spot, at = following, at + 1
    weeks = spot.means("week")
    after = _skip(spots, at + 1, ("the",), (",",))
    if weeks and after < len(spots) and spots[after].means("weekday"):
        return Named(after + 1, _in_week(spots[after], weeks[0].value, today))
    end = _skip(spots, at + 1, ("the", "of"), (",",)) if spot.means("weekday") else at
    if end < len(spots) and (weeks := spots[end].means("week")):
        return Named(end + 1, _in_week(spot, weeks[0].value, today))
    if at + 1 < len(spots) and spot.means("weekday") and spots[at + 1].means("next"):
        which, at = "next", at + 1  # “vendredi prochain”
    found: set[date] = set()
    for meaning in spot.means("weekday"):
        first = today + timedelta(days=(meaning.value - today.weekday()) % 7)
        if which == "last":
            found.add(first - timedelta(days=7))
            continue
        found.add(first)
        if which == "next" or first == today:
            found.add(first + timedelta(days=7))
        if past and which == "this":
            found.add(first - timedelta(days=7))
    return Named(at + 1, frozenset(found)) if found else None


def _in_week(spot: Spot, weeks: int, today: date) -> Days:
    monday = today + timedelta(days=7 * weeks - today.weekday())
    return frozenset(monday + timedelta(days=one.value) for one in spot.means("weekday"))


def _relative(spots: Sequence[Spot], at: int, *, today: date) -> Named | None:
    found = {today + timedelta(days=one.value) for one in spots[at].means("day")}
    return Named(at + 1, frozenset(found)) if found else None


def _date(spots: Sequence[Spot], at: int, *, today: date, past: bool) -> Named | None:
    if at >= len(spots):
        return None
    for form in (_in_numbers, _day_first, _month_first):
        if found := form(spots, at):
            end, wanted = found
            days: set[date] = set()
            for day, month, year in wanted:
                days |= _days(day, month, year, today=today, past=past)
            return Named(end, frozenset(days)) if days else None
    return None


Wanted = tuple[int, list[tuple[int, int, int | None]]]  # day, month, year


def _in_numbers(spots: Sequence[Spot], at: int) -> Wanted | None:
    """2026-11-27, 27.11.2026, 27.11., 27/11/2026, 11/27/2026."""
    values: list[Spot] = []
    marks: list[str] = []
    end = at
    while end < len(spots) and len(values) < 3:
        if spots[end].number < 0 or (end > at and not spots[end].tight):
            break
        values.append(spots[end])
        end += 1
        if len(values) < 3 and end < len(spots) and spots[end].tight and spots[end].text in "./-":
            marks.append(spots[end].text)
            end += 1
        else:
            break
    if len(values) < 2 or len(set(marks)) != 1:
        return None
    mark, numbers = marks[0], [one.number for one in values]
    if len(values) == 2:
        # "27.11." and no more: "3.30" is a time, "3/4" is a share, "9-10" is from till.
        return (end, [(numbers[0], numbers[1], None)]) if mark == "." and len(marks) == 2 else None
    if end < len(spots) and spots[end].tight and spots[end].text in ("-", "/", ":"):
        return None
    if len(values[0].text) == 4:
        return end, [(numbers[2], numbers[1], numbers[0])]
    year = numbers[2] + 2000 if len(values[2].text) == 2 else numbers[2]
    found: list[tuple[int, int, int | None]] = [(numbers[0], numbers[1], year)]
    if mark == "/":
        found.append((numbers[1], numbers[0], year))
    return end, found


def _day_first(spots: Sequence[Spot], at: int) -> Wanted | None:
    """27 November 2026, the 27th of November, 27. November, 1er mai, 3 de mayo de 2027."""
    at = _skip(spots, at, ("the",), ())
    if at >= len(spots) or not 1 <= spots[at].number <= 31:
        return None
    day = spots[at].number
    end = _skip(spots, _ordinal(spots, at + 1), ("of",), (".",))
    months = spots[end].means("month") if end < len(spots) else ()
    if not months:
        return None
    end, year = _year(spots, end + 1)
    return end, [(day, one.value, year) for one in months]


def _month_first(spots: Sequence[Spot], at: int) -> Wanted | None:
    """November 27, November 27th, 2026."""
    months = spots[at].means("month")
    end = _skip(spots, at + 1, ("the",), (".",))
    if not months or end >= len(spots) or not 1 <= spots[end].number <= 31:
        return None
    day = spots[end].number
    if end + 1 < len(spots) and spots[end + 1].tight and spots[end + 1].text in (":", "h"):
        return None  # “in May 3:30” is no day
    end, year = _year(spots, _ordinal(spots, end + 1))
    return end, [(day, one.value, year) for one in months]


def _day_of_month(spots: Sequence[Spot], at: int, *, today: date) -> tuple[int, list[date]] | None:
    """“the 4th”, “den 4.” behind a weekday: every such day from today on, for some years."""
    at = _skip(spots, at, ("the",), ())
    if at >= len(spots) or not 1 <= spots[at].number <= 31:
        return None
    end = _ordinal(spots, at + 1)
    if end == at + 1:
        dotted = end < len(spots) and spots[end].tight and spots[end].text == "."
        closed = end + 1 >= len(spots) or not spots[end + 1].tight
        if not (dotted and closed and at and spots[at - 1].means("the")):
            return None
        end += 1
    months = [(today.year + step // 12, step % 12 + 1) for step in range(48)]
    days = _valid([(year, month, spots[at].number) for year, month in months])
    return end, sorted(day for day in days if day >= today)


def _ordinal(spots: Sequence[Spot], at: int) -> int:
    return at + 1 if at < len(spots) and spots[at].tight and spots[at].text in ORDINALS else at


def _year(spots: Sequence[Spot], at: int) -> tuple[int, int | None]:
    end = _skip(spots, at, ("of",), (",", "."))
    if end < len(spots) and len(spots[end].text) == 4 and spots[end].number in YEARS:
        return end + 1, spots[end].number
    return at, None


def _skip(spots: Sequence[Spot], at: int, kinds: Sequence[str], marks: Sequence[str]) -> int:
    for _ in range(2):
        if at < len(spots) and (
            spots[at].text in marks or spots[at].means(*kinds)  # type: ignore[arg-type]
        ):
            at += 1
    return at


def _days(day: int, month: int, year: int | None, *, today: date, past: bool) -> set[date]:
    """The day itself; without a year the next one, and where `past` also the one before."""
    if year is not None:
        return _valid([(year, month, day)])
    near = sorted(_valid([(today.year + step, month, day) for step in range(-4, 5)]))
    coming = [one for one in near if one >= today][:1]
    gone = [one for one in near if one < today][-1:]
    return {*coming, *(gone if past else ())}


def _valid(given: Sequence[tuple[int, int, int]]) -> set[date]:
    found = set()
    for year, month, day in given:
        if year in YEARS and 1 <= month <= 12 and 1 <= day <= 31:
            try:
                found.add(date(year, month, day))
            except ValueError:
                continue
    return found

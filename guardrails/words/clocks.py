"""Times of the day and lengths of time that a text names. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from guardrails.words.spots import Spot
from guardrails.words.vocabulary import Meaning

NOON, DAY = 720, 1440
LONGEST_SPAN = 366 * DAY


class Clock(NamedTuple):
    """Minutes after midnight that one phrase may mean, and where it ends. `sure`: it is a time
    by itself, and no mere number. `is_open`: before noon or after it was not said; `by_half`: it
    was, by “am”, “in the afternoon” and the like."""

    end: int
    minutes: frozenset[int]
    sure: bool
    is_open: bool
    by_half: bool = False


class Span(NamedTuple):
    """A length of time in minutes, and where it ends."""

    end: int
    minutes: int


def read_clock(spots: Sequence[Spot], at: int) -> Clock | None:
    """The time of day that begins here. A number or word alone counts as one that is not sure;
    what stands around it must say so."""
    spot = spots[at]
    if named := spot.means("clock"):
        return Clock(at + 1, frozenset(one.value for one in named), sure=True, is_open=False)
    if halves := spot.means("half"):
        found = _hour(spots, at + 1)
        if found is None:
            return None
        minutes = frozenset((found[0] * 60 + one.value) % DAY for one in halves)
        return _closed(spots, at + 2, minutes, padded=False, sure=True)
    if spot.number >= 0:
        return _in_digits(spots, at)
    if words := [one for one in spot.means("number") if one.value <= 24]:
        minutes = frozenset(one.value * 60 % DAY for one in words)
        end, more = _more(spots, at + 1)
        minutes = frozenset((one + more) % DAY for one in minutes)
        return _closed(spots, end, minutes, padded=False, sure=end > at + 1)
    return None


def _hour(spots: Sequence[Spot], at: int) -> tuple[int, tuple[Meaning, ...]] | None:
    if at >= len(spots):
        return None
    words = spots[at].means("number")
    hour = words[0].value if words else spots[at].number
    return (hour, words) if 1 <= hour <= 24 else None


def _in_digits(spots: Sequence[Spot], at: int) -> Clock | None:
    hour, text, end = spots[at].number, spots[at].text, at + 1
    if hour > 24 or len(text) > 2:
        return None
    minute, sure, exact = 0, False, False
    mark = spots[end] if end < len(spots) else None
    if mark and mark.tight and mark.text in (":", ".", "h") and end + 1 < len(spots):
        low = spots[end + 1]
        if low.tight and len(low.text) == 2 and 0 <= low.number < 60:
            minute, sure, end = low.number, mark.text != ".", end + 2
            exact = len(text) == 2  # “10:00” is a time of day on a clock of 24 hours
            end = _seconds(spots, end)
    if end < len(spots) and spots[end].means("o'clock"):
        end, sure = end + 1, True
        if (
            minute == 0
            and end < len(spots)
            and len(spots[end].text) == 2
            and 0 <= spots[end].number < 60
            and spots[end].number >= 0
        ):
            minute, end = spots[end].number, end + 1  # “14 Uhr 30”, “15 h 30”
    if minute == 0:
        end, more = _more(spots, end)
        minute, sure = more, sure or more != 0
    if hour == 24 and minute:
        return None
    minutes = frozenset({(hour * 60 + minute) % DAY})
    padded = exact or text.startswith("0") or hour in (0, 24)
    return _closed(spots, end, minutes, padded=padded, sure=sure)


def _seconds(spots: Sequence[Spot], at: int) -> int:
    """After “:00” behind a time, which says no more."""
    is_zero = (
        at + 1 < len(spots)
        and spots[at].tight
        and spots[at].text == ":"
        and spots[at + 1].tight
        and spots[at + 1].text == "00"
    )
    return at + 2 if is_zero else at


def _more(spots: Sequence[Spot], at: int) -> tuple[int, int]:
    """“et demie”, “y cuarto”, with “heures” before it or not: minutes after the hour."""
    after = at + 1 if at < len(spots) and spots[at].means("o'clock", "unit") else at
    if after < len(spots) and (found := spots[after].means("and")):
        return after + 1, found[0].value
    return at, 0


def _closed(
    spots: Sequence[Spot], end: int, minutes: frozenset[int], *, padded: bool, sure: bool
) -> Clock:
    """With “am”, “in the afternoon” and the like behind it; without them, both halves of the
    day where the number tells neither."""
    if end < len(spots) and spots[end].means("o'clock"):
        end, sure = end + 1, True
    at = end + 1 if end < len(spots) and spots[end].text == "," else end
    if at < len(spots) and (parts := spots[at].means("part")) and not spots[at].means("day"):
        halves = {one.value for one in parts}
        found = in_half(minutes, halves)
        return Clock(at + 1, found, sure=True, is_open=False, by_half=True)
    if padded or all(one >= 13 * 60 or one < 60 for one in minutes):
        return Clock(end, minutes, sure=sure, is_open=False)
    return Clock(end, in_half(minutes, {0, 1}, or_noon=True), sure=sure, is_open=True)


def in_half(minutes: frozenset[int], halves: set[int], *, or_noon: bool = False) -> frozenset[int]:
    """Times on a clock of twelve hours as they are before noon (0), after it (1), or both. Times
    after one in the afternoon stay. `or_noon`: twelve o'clock is noon."""
    found: set[int] = set()
    for one in minutes:
        if one >= 13 * 60:
            found.add(one)
            continue
        early = one % NOON
        if or_noon and early < 60:
            found.add(early + NOON)
            continue
        found |= {early + NOON * half for half in halves}
    return frozenset(found)


def read_span(spots: Sequence[Spot], at: int) -> Span | None:
    """The length of time that begins here: “45 minutes”, “half an hour”, “1 h 30”, “1.5 hours”."""
    minutes, end, tongues = 0, at, None
    while end < len(spots) and end < at + 8:
        found = _part(spots, end)
        if found is None:
            break
        end, more, spoken = found
        tongues = spoken if tongues is None else tongues & spoken
        minutes += more
        if not tongues or minutes > LONGEST_SPAN:
            return None
        if end < len(spots) and spots[end].text in ("and", "und", "et", "y", "e"):
            if _part(spots, end + 1) is None:
                break
            end += 1
    return Span(end, minutes) if minutes else None


def _part(spots: Sequence[Spot], at: int) -> tuple[int, int, set[str]] | None:
    if at >= len(spots):
        return None
    spot = spots[at]
    if whole := [one for one in spot.means("unit") if one.value < 0]:
        return at + 1, -whole[0].value, {one.tongue for one in whole}
    words = spot.means("number")
    if spot.number < 0 and not words:
        return None
    amount = float(spot.number if spot.number >= 0 else words[0].value)
    end = at + 1
    if (
        end + 1 < len(spots)
        and spots[end].tight
        and spots[end].text in ".,"
        and spots[end + 1].tight
        and spots[end + 1].text in ("5", "25", "75", "50")
    ):
        amount += float(f"0.{spots[end + 1].text}")
        end += 2
    if end >= len(spots):
        return None
    units = spots[end].means("unit")
    if whole := [one for one in units if one.value < 0]:
        # “eine halbe Stunde”
        return (end + 1, -whole[0].value, {one.tongue for one in whole}) if amount == 1 else None
    spoken = {one.tongue for one in units}
    if words:
        spoken &= {one.tongue for one in words}
    if not units or not spoken:
        return None
    minutes = amount * units[0].value
    return (end + 1, int(minutes), spoken) if minutes.is_integer() else None

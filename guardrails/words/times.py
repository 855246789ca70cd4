"""The times that a person's words name, as values, in their own zone. Pure.

What the words leave open is a few times, and each of them counts: “at 3:30” is before noon or
after it. What they don't say is never among them; in doubt nothing is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal, NamedTuple

from guardrails.words import clocks, dates
from guardrails.words.clocks import DAY, Clock
from guardrails.words.moments import instant, zone_of
from guardrails.words.own import HOLE
from guardrails.words.spots import Spot, spots

DASHES = ("-", "–", "—")  # noqa: RUF001
BETWEEN = frozenset(",(:@") | frozenset(DASHES)
CLOSING = frozenset(".,;:!?)]”\"'") | frozenset(DASHES)
AIMS = frozenset({"to", "until", "till", "by", "auf", "bis", "à", "au", "a", "al", "hasta"})
MOST_GAP = 3
MOST_PIECES = 300
PHRASE_CHARS = 80
ZONES = {
    **dict.fromkeys(("UTC", "GMT", "Z"), "UTC"),
    **dict.fromkeys(("CET", "CEST", "MEZ", "MESZ"), "Europe/Berlin"),
    **dict.fromkeys(("EST", "EDT", "ET"), "America/New_York"),
    **dict.fromkeys(("PST", "PDT", "PT"), "America/Los_Angeles"),
    **dict.fromkeys(("MST", "MDT"), "America/Denver"),
    "BST": "Europe/London",
    "JST": "Asia/Tokyo",
}
ZONE = re.compile(r"\s*\(?(?:(?P<name>[A-Z]{1,5})\b|(?P<place>[A-Z]\w+/[A-Z]\w+(?:/[A-Z]\w+)?))")
OTHER_ZONE = re.compile(r"\s*\(?(?:[A-Z]{1,3}[SDC]T\b|\+\d|(?:[A-Z][\w.]+\s){1,2}(?:time|Zeit)\b)")


@dataclass(frozen=True)
class Said:
    """What was said, each with the words that say it. `clocks` are minutes after midnight, of
    no day that was named; `spans` lengths in minutes. `count` is how many times of day there
    are, however many each of them may mean."""

    zone: tzinfo = UTC
    times: dict[datetime, str] = field(default_factory=dict)  # in UTC
    days: dict[date, str] = field(default_factory=dict)
    clocks: dict[int, str] = field(default_factory=dict)
    spans: dict[int, str] = field(default_factory=dict)
    count: int = 0


class Piece(NamedTuple):
    kind: Literal["day", "part", "clock", "span", "moment"]
    start: int  # in spots
    end: int
    days: frozenset[date] = frozenset()
    minutes: frozenset[int] = frozenset()


def read(words: str, *, said_at: str, zone: str, past: bool = False) -> Said:
    """What the words say, said at that time (ISO 8601) by somebody in that zone. Nothing where
    either is unknown. `past` also takes days before it, where the words do not say."""
    where = zone_of(zone)
    at = instant(said_at)
    if at is None or where is None or not words:
        return Said()
    local = at.astimezone(where)
    pieces = spots(words)
    found = list(_pieces(pieces, today=local.date(), past=past))
    broken = any(one.text == HOLE for one in pieces)
    groups = [
        group
        for group in _groups(pieces, found)
        if not _at_hole(pieces, group[0].start, group[-1].end)
    ]
    said = _Reader(words, pieces, local, where).read(groups, alone=not broken)
    return replace(said, count=sum(one.kind in ("clock", "moment") for one in found))


def days_named(words: str, *, said_at: str, zone: str) -> list[frozenset[date]]:
    """The days that the words look at, each as all it may mean: not those that something is
    moved to (“to Friday”)."""
    at, where = instant(said_at), zone_of(zone)
    if at is None or where is None:
        return []
    pieces = spots(words)
    return [
        one.days
        for one in _pieces(pieces, today=at.astimezone(where).date(), past=False)
        if one.kind == "day" and not _is_aim(pieces, one.start)
    ]


def _is_aim(spots: Sequence[Spot], start: int) -> bool:
    before = [one.text for one in spots[max(0, start - 2) : start]]
    if before and spots[start - 1].means("the") and spots[start - 1].text not in ("al", "au"):
        before.pop()
    return bool(before) and before[-1] in AIMS


class _Reader:
    def __init__(self, words: str, pieces: Sequence[Spot], local: datetime, zone: tzinfo) -> None:
        self.words, self.pieces, self.local, self.zone = words, pieces, local, zone
        self.said = Said(zone=zone)

    def read(self, groups: Sequence[Sequence[Piece]], *, alone: bool) -> Said:
        named = {one.days: one for group in groups for one in group if one.kind == "day"}
        for pieces in groups:
            phrase = self._phrase(pieces)
            halves = [one.minutes for one in pieces if one.kind == "part"]
            group = [_in_part(one, halves) for one in pieces] if halves else pieces
            days = [one for one in group if one.kind == "day"]
            for one in group:
                if one.kind == "day":
                    self._put_days(one.days, phrase)
                elif one.kind == "span":
                    self._put(self.said.spans, one.minutes, self._phrase([one]))
                elif one.kind == "moment":
                    self._put_moment(min(one.minutes), phrase)
                elif one.kind == "part":
                    continue
                elif days:
                    before = [day for day in days if day.start < one.start]
                    self._put_times(one, (before[-1:] or days)[0].days, phrase)
                elif alone and len(named) == 1:
                    day = next(iter(named.values()))
                    self._put_times(one, day.days, f"{self._phrase([day])} … {phrase}")
                elif alone and not named:
                    self._put(self.said.clocks, one.minutes, phrase)
                    self._put_times(one, frozenset({self.local.date()}), phrase, later=True)
        return self.said

    def _phrase(self, group: Sequence[Piece]) -> str:
        start, end = self.pieces[group[0].start].start, self.pieces[group[-1].end - 1].end
        text = " ".join(self.words[start:end].split())
        return text if len(text) <= PHRASE_CHARS else f"{text[: PHRASE_CHARS - 1]}…"

    def _put(self, where: dict[int, str], values: frozenset[int], phrase: str) -> None:
        for one in sorted(values):
            where.setdefault(one, phrase)

    def _put_days(self, days: frozenset[date], phrase: str) -> None:
        for day in sorted(days):
            self.said.days.setdefault(day, phrase)

    def _put_times(
        self, piece: Piece, days: frozenset[date], phrase: str, *, later: bool = False
    ) -> None:
        zone = self._zone_behind(piece)
        if zone is None:
            return
        for day in sorted(days):
            for minutes in sorted(piece.minutes):
                at = datetime.combine(day, time(minutes // 60, minutes % 60), tzinfo=zone)
                if later and at <= self.local:
                    continue
                for fold in (0, 1):  # an hour that comes twice may be either
                    self.said.times.setdefault(at.replace(fold=fold).astimezone(UTC), phrase)

    def _put_moment(self, minutes: int, phrase: str) -> None:
        at = (self.local + timedelta(minutes=minutes)).astimezone(UTC)
        at = at.replace(second=0, microsecond=0)
        for late in (0, 1):  # a clock without seconds may be read a minute late
            self.said.times.setdefault(at + timedelta(minutes=late), phrase)

    def _zone_behind(self, piece: Piece) -> tzinfo | None:
        """The zone that is named behind a time, else the person's own. None: another one, which
        nobody can tell."""
        end = self.pieces[piece.end - 1].end
        behind = self.words[end : end + 60]
        if found := ZONE.match(behind):
            name = ZONES.get(found["name"] or "") or found["place"]
            if name:
                return zone_of(name)
        return None if OTHER_ZONE.match(behind) else self.zone


def _in_part(piece: Piece, halves: Sequence[frozenset[int]]) -> Piece:
    """A time of day that can be so in the part of the day that was named beside it."""
    if piece.kind != "clock":
        return piece
    half = set(halves[0])
    fitting = frozenset(one for one in piece.minutes if int(one >= clocks.NOON) in half)
    return piece._replace(minutes=fitting or clocks.in_half(piece.minutes, half, or_noon=True))


def _pieces(spots: Sequence[Spot], *, today: date, past: bool) -> Iterator[Piece]:
    at = count = 0
    while at < len(spots) and count < MOST_PIECES:
        found = list(_at(spots, at, today=today, past=past))
        yield from found
        count += len(found)
        at = found[-1].end if found else at + 1


def _at(spots: Sequence[Spot], at: int, *, today: date, past: bool) -> Iterator[Piece]:
    spot = spots[at]
    if spot.means("in") and at + 1 < len(spots) and (span := clocks.read_span(spots, at + 1)):
        if span.minutes % DAY == 0:
            days = frozenset({today + timedelta(days=span.minutes // DAY)})
            yield Piece("day", at, span.end, days=days)
        else:
            yield Piece("moment", at, span.end, minutes=frozenset({span.minutes}))
        return
    halves = frozenset(one.value for one in spot.means("part"))
    behind_day = at > 0 and bool(spots[at - 1].means("weekday", "day"))
    day = None if halves and behind_day else dates.read_day(spots, at, today=today, past=past)
    if day:
        yield Piece("day", at, day.end, days=day.days)
    if halves and (behind_day or spot.text != "morgen"):
        yield Piece("part", at, at + 1, minutes=halves)
    if day or halves:
        return
    clock = clocks.read_clock(spots, at)
    announced = clock is not None and _announces(spots, at, "before", "from")
    is_time = announced and clock and (clock.sure or _may_follow(spots, clock.end))
    if not is_time and (span := clocks.read_span(spots, at)):
        yield Piece("span", at, span.end, minutes=frozenset({span.minutes}))
        return
    if clock is None or (at and spots[at].tight and spots[at - 1].text in ("/", ".", ":", "-")):
        return
    yield from _clocks(spots, at, clock, announced=announced)


def _clocks(spots: Sequence[Spot], at: int, first: Clock, *, announced: bool) -> Iterator[Piece]:
    """One time of day, or from one till another."""
    second = _till(spots, first.end)
    if second is not None:
        start, last = second
        near = announced or _is_day(spots, at - 1) or _is_day(spots, last.end)
        if (first.sure or last.sure or near) and (last.sure or _may_follow(spots, last.end)):
            early = first.minutes
            if last.by_half and not first.by_half:
                early = _before(clocks.in_half(early, {0, 1}, or_noon=True), last.minutes)
            elif first.is_open and not last.is_open:
                early = _before(early, last.minutes)
            yield Piece("clock", at, first.end, minutes=early)
            yield Piece("clock", start, last.end, minutes=last.minutes)
            return
    if first.sure or (announced and _may_follow(spots, first.end)):
        yield Piece("clock", at, first.end, minutes=first.minutes)


def _till(spots: Sequence[Spot], at: int) -> tuple[int, Clock] | None:
    if at + 1 >= len(spots) or not (spots[at].text in DASHES or spots[at].means("to")):
        return None
    start = at + 1
    while start < len(spots) - 1 and start < at + 3 and spots[start].means("before"):
        start += 1
    found = clocks.read_clock(spots, start)
    return (start, found) if found else None


def _before(early: frozenset[int], late: frozenset[int]) -> frozenset[int]:
    """Of the times that the first may mean, those nearest before the second: “2-3 pm”."""
    earlier = [one for one in early for end in late if one < end]
    return frozenset({max(earlier)}) if earlier else early


def _announces(spots: Sequence[Spot], at: int, *kinds: str) -> bool:
    """Whether what stands before says that a time follows, in the tongue of its words."""
    if at == 0:
        return False
    before = spots[at - 1].means(*kinds)  # type: ignore[arg-type]
    words = spots[at].means("number")
    if spots[at].number < 0 and words:
        spoken = {one.tongue for one in words}
        return any(one.tongue in spoken and one.value != 2 for one in before)
    return any(one.value != 1 for one in before)


def _may_follow(spots: Sequence[Spot], at: int) -> bool:
    """Whether a number that ends here may be a time: what follows counts nothing."""
    if at >= len(spots) or spots[at].means(
        "stop", "day", "weekday", "part", "the", "this", "next", "before", "to"
    ):
        return True
    if spots[at].text not in CLOSING:
        return False
    return not (spots[at].tight and at + 1 < len(spots) and spots[at + 1].tight)


def _is_day(spots: Sequence[Spot], at: int) -> bool:
    if not 0 <= at < len(spots):
        return False
    return bool(spots[at].means("day", "weekday", "month", "part", "the"))


def _groups(spots: Sequence[Spot], found: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Pieces with nothing but small words between them."""
    group: list[Piece] = []
    for piece in found:
        if group and not _joins(spots, group[-1].end, piece.start):
            yield group
            group = []
        group.append(piece)
    if group:
        yield group


def _joins(spots: Sequence[Spot], start: int, end: int) -> bool:
    between = spots[start:end]
    return len(between) <= MOST_GAP and all(
        one.text in BETWEEN or one.means("before", "the", "from", "of", "part", "for")
        for one in between
    )


def _at_hole(spots: Sequence[Spot], start: int, end: int) -> bool:
    return (start > 0 and spots[start - 1].text == HOLE) or (
        end < len(spots) and spots[end].text == HOLE
    )

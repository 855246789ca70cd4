"""Times: as tools show them, as answers say them, and the spans that requests name. Pure."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

_DAYS = {
    name: number
    for number, names in enumerate(
        (
            ("monday", "montag"),
            ("tuesday", "dienstag"),
            ("wednesday", "mittwoch"),
            ("thursday", "donnerstag"),
            ("friday", "freitag"),
            ("saturday", "samstag", "sonnabend"),
            ("sunday", "sonntag"),
        )
    )
    for name in names
}
_ENGLISH = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
_GERMAN = ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"]
_RELATIVE: tuple[tuple[str, str], ...] = (
    ("the day after tomorrow", r"\b(?:day after tomorrow|übermorgen)\b"),
    ("tomorrow", r"\b(?:tomorrow|morgen)\b"),
    ("today", r"\b(?:today|tonight|heute)\b"),
    ("yesterday", r"\b(?:yesterday|gestern)\b"),
    ("next week", r"\b(?:next week|(?:nächste|kommende)[rn]? woche)\b"),
    ("this week", r"\b(?:this week|diese[rn]? woche)\b"),
    ("last week", r"\b(?:last week|letzte[rn]? woche)\b"),
    ("next month", r"\b(?:next month|nächste[rn]? monat)\b"),
    ("this month", r"\b(?:this month|diese[rnm]? monat)\b"),
    ("last month", r"\b(?:last month|letzte[rn]? monat)\b"),
)
_SEVEN_DAYS = "the next seven days"
IN_GERMAN = {
    "the day after tomorrow": "übermorgen", "tomorrow": "morgen", "today": "heute",
    "yesterday": "gestern", "next week": "nächste Woche", "this week": "diese Woche",
    "last week": "letzte Woche", "next month": "nächsten Monat", "this month": "diesen Monat",
    "last month": "letzten Monat", _SEVEN_DAYS: "die nächsten sieben Tage",
}  # fmt: skip
_WEEKDAY = re.compile(
    rf"\b(?:(?:on|next|this|am|nächsten|kommenden|diesen)\s+)?(?P<day>{'|'.join(_DAYS)})\b",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b\d{4}-\d\d-\d\d\b")


@dataclass(frozen=True, kw_only=True)
class Span:
    """Days of the user's calendar; `until` is not one of them. `said` is what stood there."""

    name: str
    since: date
    until: date
    said: str

    def called(self, german: bool) -> str:
        return IN_GERMAN.get(self.name, self.name) if german else self.name

    def when(self, german: bool) -> str:
        """As it stands in a sentence: “today”, “on Friday”, “in the next seven days”."""
        if self.name == _SEVEN_DAYS:
            return "in den nächsten sieben Tagen" if german else f"in {_SEVEN_DAYS}"
        is_day_alone = self.name.casefold() in _DAYS or _ISO.fullmatch(self.name)
        before = ("am " if german else "on ") if is_day_alone else ""
        return before + self.called(german)


def span_in(text: str, *, now: datetime) -> Span | None:
    """The first span that a request names."""
    today = now.date()
    for name, how in _RELATIVE:
        if found := re.search(how, text, re.IGNORECASE):
            since, until = _relative(name, today)
            return Span(name=name, since=since, until=until, said=found[0])
    if found := _WEEKDAY.search(text):
        day = today + timedelta(days=(_DAYS[found["day"].casefold()] - today.weekday()) % 7)
        return Span(name=found[0], since=day, until=day + timedelta(days=1), said=found[0])
    if found := _ISO.search(text):
        try:
            day = date.fromisoformat(found[0])
        except ValueError:
            return None
        return Span(name=found[0], since=day, until=day + timedelta(days=1), said=found[0])
    return None


def next_days(now: datetime, days: int = 7) -> Span:
    since = now.date()
    return Span(name=_SEVEN_DAYS, since=since, until=since + timedelta(days=days), said="")


def _relative(name: str, today: date) -> tuple[date, date]:
    one = timedelta(days=1)
    monday = today - timedelta(days=today.weekday())
    first = today.replace(day=1)
    coming = (first + timedelta(days=31)).replace(day=1)
    days = {"yesterday": -1, "today": 0, "tomorrow": 1, "the day after tomorrow": 2}
    if name in days:
        day = today + days[name] * one
        return day, day + one
    weeks = {"last week": -1, "this week": 0, "next week": 1}
    if name in weeks:
        since = monday + weeks[name] * 7 * one
        return since, since + 7 * one
    return {
        "this month": (first, coming),
        "next month": (coming, (coming + timedelta(days=31)).replace(day=1)),
    }.get(name, ((first - one).replace(day=1), first))


def moment(written: object) -> datetime | None:
    """A time as tools show it, “Thu 2026-11-26T10:00+01:00”, or as ISO 8601 has it."""
    last = written.split()[-1] if isinstance(written, str) and written.split() else ""
    try:
        found = datetime.fromisoformat(last)
    except ValueError:
        return None
    return found if found.tzinfo else None


def show(when: datetime, german: bool, *, clock: bool = True) -> str:
    """“Thu 26 Nov 2026 10:00”; “Do 26.11.2026, 10:00 Uhr”."""
    if german:
        return f"{_GERMAN[when.weekday()]} {when:%d.%m.%Y}" + (
            f", {when:%H:%M} Uhr" if clock else ""
        )
    return f"{_ENGLISH[when.weekday()]} {when.day} {when:%b %Y}" + (
        f" {when:%H:%M}" if clock else ""
    )


def length(since: datetime, until: datetime, german: bool) -> str:
    minutes = int((until - since).total_seconds() // 60)
    days, minutes = divmod(minutes, 24 * 60)
    hours, minutes = divmod(minutes, 60)
    names = (
        (("Tag", "Tage"), ("Stunde", "Stunden"), ("Minute", "Minuten"))
        if german
        else (("day", "days"), ("hour", "hours"), ("minute", "minutes"))
    )
    parts = [
        f"{number} {one if number == 1 else several}"
        for number, (one, several) in zip((days, hours, minutes), names, strict=True)
        if number
    ]
    return " ".join(parts) or f"0 {names[2][1]}"

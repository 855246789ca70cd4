"""What a user says of themself: how they are called, read, reached in time, and how they sign.

A user wrote it, so it is data: plain text of limited length in which nothing hides. Pure.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import time
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
    model_validator,
)

Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
DAYS: tuple[Day, ...] = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)
NAME_CHARS, LANGUAGE_CHARS, SIGNATURE_CHARS = 200, 35, 1000
KNOWN_SENDERS = 500
# RFC 5646 without extended languages and extensions, which no office needs.
_TAG = re.compile(
    r"(?P<language>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}|\d{3}))?"
    r"(?P<rest>(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*(?:-x(?:-[a-z\d]{1,8})+)?)",
    re.IGNORECASE | re.ASCII,
)
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")  # some scripts, and emoji, are written with them

Clock = Annotated[time, PlainSerializer(lambda at: f"{at:%H:%M}", return_type=str)]


class Hours(BaseModel):
    """From when to when somebody works on one day, on their own clock."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: Clock
    end: Clock

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.start.tzinfo or self.end.tzinfo:
            raise ValueError("takes times without a zone")
        if self.start >= self.end:
            raise ValueError("start must be before end")
        return self

    def __str__(self) -> str:
        return f"{self.start:%H:%M}-{self.end:%H:%M}"


WorkingHours = Mapping[Day, Hours]
_HOURS: TypeAdapter[dict[Day, Hours]] = TypeAdapter(dict[Day, Hours])
OFFICE_HOURS: WorkingHours = {day: Hours(start=time(8), end=time(18)) for day in DAYS[:5]}


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """What one user has said. Empty means that they have not said it."""

    name: str = ""
    language: str = ""  # a BCP 47 tag
    time_zone: str = ""
    working_hours: WorkingHours = field(default_factory=dict)
    signature: str = ""


def read_hours(raw: Any) -> WorkingHours:
    """Working hours out of JSON, in the order of the week; no day means that none are said.
    Raises ValueError."""
    found = _HOURS.validate_python(raw)
    return {day: found[day] for day in DAYS if day in found}


def dump_hours(hours: WorkingHours) -> dict[str, Any]:
    return dict(_HOURS.dump_python(dict(hours), mode="json"))


def render_hours(hours: WorkingHours) -> str:
    """“Mon-Thu 08:00-17:00, Fri 08:00-13:00”; empty where there are none."""
    runs: list[tuple[int, int, Hours]] = []
    for number, day in enumerate(DAYS):
        if day not in hours:
            continue
        if runs and runs[-1][1:] == (number - 1, hours[day]):
            runs[-1] = (runs[-1][0], number, hours[day])
        else:
            runs.append((number, number, hours[day]))
    short = [day[:3].title() for day in DAYS]
    return ", ".join(
        f"{short[first]}{f'-{short[last]}' * (last > first)} {one}" for first, last, one in runs
    )


def clean_language(tag: str) -> str:
    """A language tag as it is commonly written: de-AT, zh-Hant. Raises ValueError."""
    found = _TAG.fullmatch(tag) if len(tag) <= LANGUAGE_CHARS else None
    if found is None:
        raise ValueError(f"“{tag[:LANGUAGE_CHARS]}” is not a language. Use a tag such as de-AT.")
    script, region = found["script"], found["region"]
    parts = (found["language"].lower(), script and script.title(), region and region.upper())
    return "-".join(part for part in parts if part) + found["rest"].lower()


def check_text(text: str, *, lines: bool = False) -> str:
    """Refuses characters that nobody sees, and line breaks where there is one line."""
    for character in text:
        is_break = lines and character == "\n"
        if (
            unicodedata.category(character) in _HIDDEN
            and character not in _JOINERS
            and not is_break
        ):
            raise ValueError(f"contains the hidden character U+{ord(character):04X}")
    return text


def explain(error: ValueError) -> str:
    """What is wrong, for who typed it."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ", ".join(str(part) for part in first["loc"] if part != "[key]")
    why = first["msg"].removeprefix("Value error, ")
    return f"{place}: {why}" if place else why

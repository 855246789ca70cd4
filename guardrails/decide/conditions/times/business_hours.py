"""At which hours of which weekdays, on the wall clock of a named zone."""

from datetime import time
from functools import lru_cache
from typing import Annotated, ClassVar, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, model_validator

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, either
from guardrails.facts.phrases import phrase

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@lru_cache(maxsize=64)
def zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def _known_zone(name: str) -> str:
    try:
        zone(name)
    except (OSError, ValueError, KeyError) as error:  # whatever the name points at
        raise ValueError("must be a time zone such as Europe/Stockholm") from error
    return name


Clock = Annotated[
    str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$", json_schema_extra={"format": "time"})
]


class BusinessHours(Condition):
    """From `start` (inclusive) to `end` (exclusive) on `days`, by the wall clock in `zone`.

    The wall clock decides, so a change to summer time moves the hours with the people.
    """

    kind: Literal["business_hours"]
    title: ClassVar[str] = "Hours and weekdays"
    zone: Annotated[
        str, AfterValidator(_known_zone), Field(json_schema_extra={"format": "time-zone"})
    ]
    start: Clock = "09:00"
    end: Clock = "17:00"
    days: Annotated[tuple[Day, ...], Field(strict=False, min_length=1)] = DAYS[:5]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.start >= self.end:
            raise ValueError("start must be before end, on one day")
        return self

    @property
    def sentence(self) -> str:
        ordered = sorted({DAYS.index(day) for day in self.days})
        names = [phrase(DAYS[index].capitalize()) for index in ordered]
        in_a_row = len(ordered) > 2 and ordered[-1] - ordered[0] == len(ordered) - 1
        days = either(names)
        if in_a_row:
            days = phrase("%(first)s to %(last)s", first=names[0], last=names[-1])
        return phrase(
            "it is %(days)s, %(start)s to %(end)s in %(zone)s",
            days=days,
            start=self.start,
            end=self.end,
            zone=self.zone,
        )

    def excludes(self, other: Condition) -> bool:
        if not isinstance(other, BusinessHours) or self.zone != other.zone:
            return False  # hours of other zones meet somewhere, or nobody can tell
        return not set(self.days) & set(other.days) or (
            max(self.start, other.start) >= min(self.end, other.end)
        )

    def implies(self, other: Condition) -> bool:
        return (
            isinstance(other, BusinessHours)
            and self.zone == other.zone
            and set(self.days) <= set(other.days)
            and other.start <= self.start
            and self.end <= other.end
        )

    def judge(self, context: Context) -> Check:
        local = context.now.astimezone(zone(self.zone))
        inside = DAYS[local.weekday()] in self.days and time.fromisoformat(
            self.start
        ) <= local.time() < time.fromisoformat(self.end)
        return self.check(
            inside,
            f"It is {local:%A %H:%M} in {self.zone}; permitted are "
            f"{', '.join(self.days)} {self.start} to {self.end}.",
        )

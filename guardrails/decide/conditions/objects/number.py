"""Bounds for a number among the arguments."""

import math
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import (
    Condition,
    Context,
    bounds,
    in_range,
    overlap,
    within,
)
from guardrails.facts.phrases import phrase

Bound = Annotated[float, Field(ge=-1e15, le=1e15, allow_inf_nan=False)]


class Number(Condition):
    """The argument `field` is from `min` to `max`, bounds included. Of a list, such as
    attendees, it is how many there are. Without the argument it does not hold."""

    kind: Literal["number"]
    title: ClassVar[str] = "A number among the arguments"
    field: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    min: Bound | None = None
    max: Bound | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        in_range(self.min, self.max, "min", "max")
        return self

    @property
    def sentence(self) -> str:
        low, high = (None if one is None else f"{one:g}" for one in (self.min, self.max))
        return phrase(
            "the number of “%(field)s” is %(bounds)s",
            field=phrase(self.field.replace("_", " ")),
            bounds=bounds(low, high),
        )

    def unfit(self, action: AnyAction) -> str:
        if self.field in (*action.numbers, *action.lists):
            return ""
        return f"this action has no number or list called “{self.field}”"

    def excludes(self, other: Condition) -> bool:
        return (
            isinstance(other, Number)
            and self.field == other.field
            and not overlap((self.min, self.max), (other.min, other.max))
        )

    def implies(self, other: Condition) -> bool:
        return (
            isinstance(other, Number)
            and self.field == other.field
            and within((self.min, self.max), (other.min, other.max))
        )

    def widened(self, context: Context) -> Condition | None:
        number = self._given(context)
        if number is None or not math.isfinite(number):
            return None
        low = None if self.min is None else min(self.min, number)
        high = None if self.max is None else max(self.max, number)
        return self.model_copy(update={"min": low, "max": high})

    def _given(self, context: Context) -> float | None:
        given = context.arguments.get(self.field)
        number = len(given) if isinstance(given, list | tuple) else given
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        return number if is_number else None

    def judge(self, context: Context) -> Check:
        number = self._given(context)
        if number is None:
            return self.check(False, f"There is no number “{self.field}”.")
        passed = (
            math.isfinite(number)
            and (self.min is None or number >= self.min)
            and (self.max is None or number <= self.max)
        )
        return self.check(passed, f"“{self.field}” is {number:g}.")

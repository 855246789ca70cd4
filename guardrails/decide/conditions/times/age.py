"""How old the thing is that the action is done to."""

from datetime import timedelta
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import (
    Condition,
    Context,
    bounds,
    in_range,
    number_of,
    overlap,
    within,
)
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase

Hours = Annotated[int, Field(ge=0, le=876_000)]


class Age(Condition):
    """Since the mail came or the document or issue was made, at least `min_hours` and at most
    `max_hours` have passed, bounds included. What is dated in the future has no age."""

    kind: Literal["age"]
    title: ClassVar[str] = "How old it is"
    min_hours: Hours | None = None
    max_hours: Hours | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        in_range(self.min_hours, self.max_hours, "min_hours", "max_hours")
        return self

    @property
    def sentence(self) -> str:
        low, high = (
            None if hours is None else number_of(hours, "hour")
            for hours in (self.min_hours, self.max_hours)
        )
        return phrase("it is %(bounds)s old", bounds=bounds(low, high))

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        return frozenset({"email"}) if action.object_kind == "email" else frozenset()

    def unfit(self, action: AnyAction) -> str:
        if action.object_kind not in ("email", "document", "issue"):
            return "it is about the age of a mail, document or issue"
        return ""

    def excludes(self, other: Condition) -> bool:
        return isinstance(other, Age) and not overlap(
            (self.min_hours, self.max_hours), (other.min_hours, other.max_hours)
        )

    def implies(self, other: Condition) -> bool:
        return isinstance(other, Age) and within(
            (self.min_hours or 0, self.max_hours), (other.min_hours or 0, other.max_hours)
        )

    def judge(self, context: Context) -> Check:
        since = context.facts.object_since
        if since is None or since.tzinfo is None or since > context.now:
            return self.check(False, "It is not known how old it is.")
        age = context.now - since
        passed = (self.min_hours is None or age >= timedelta(hours=self.min_hours)) and (
            self.max_hours is None or age <= timedelta(hours=self.max_hours)
        )
        return self.check(passed, f"It is from {since:%Y-%m-%d %H:%M %Z}.")

"""How much a number may add up to."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.actions.base import AnyAction
from guardrails.decide.conditions.base import RateCondition
from guardrails.facts.counts import Question, Tally
from guardrails.facts.phrases import phrase


class SumPerDay(RateCondition):
    """One number among the arguments adds up to at most `max` within a day, over all actions
    of this type by this account. A negative number counts as if it were positive."""

    kind: Literal["sum_per_day"]
    title: ClassVar[str] = "Sum of a number in a day"
    field: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    max: Annotated[float, Field(gt=0, le=1e15, allow_inf_nan=False)]

    @property
    def sentence(self) -> str:
        return phrase(
            "%(field)s adds up to at most %(number)s within a day",
            field=phrase(self.field.replace("_", " ")),
            number=f"{self.max:g}",
        )

    def unfit(self, action: AnyAction) -> str:
        known = self.field in action.numbers
        return "" if known else f"this action has no number called “{self.field}”"

    @property
    def question(self) -> Question:
        return Question(what="sum", per="day", max=self.max, field=self.field)

    def in_words(self, tally: Tally) -> str:
        return f"{self.field} would add up to {tally.count:g} in a day; {self.max:g} may be"

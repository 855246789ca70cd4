"""How much a number may add up to."""

from typing import Annotated, Literal

from pydantic import Field

from guardrails.conditions.base import RateCondition
from guardrails.counts import Question, Tally


class SumPerDay(RateCondition):
    """One number among the arguments adds up to at most `max` within a day, over all actions
    of this type by this account. A negative number counts as if it were positive."""

    kind: Literal["sum_per_day"]
    field: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    max: Annotated[float, Field(gt=0, le=1e15, allow_inf_nan=False)]

    @property
    def question(self) -> Question:
        return Question(what="sum", per="day", max=self.max, field=self.field)

    def in_words(self, tally: Tally) -> str:
        return f"{self.field} would add up to {tally.count:g} in a day; {self.max:g} may be"

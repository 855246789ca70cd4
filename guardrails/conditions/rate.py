"""How often this action may be done."""

from typing import Annotated, Literal

from pydantic import Field

from guardrails.conditions.base import RateCondition
from guardrails.counts import Question, Tally


class Rate(RateCondition):
    """At most `max` actions of this type by this account within an hour or a day, whichever
    hour or day is taken."""

    kind: Literal["rate"]
    max: Annotated[int, Field(ge=1, le=1000)]
    per: Literal["hour", "day"]

    @property
    def question(self) -> Question:
        return Question(what="actions", per=self.per, max=self.max)

    def in_words(self, tally: Tally) -> str:
        return f"This would be number {tally.count:.0f} within one {self.per}; {self.max} may be"

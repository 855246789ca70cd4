"""How often this action may be done."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.decide.conditions.base import RateCondition, number_of
from guardrails.facts.counts import Question, Tally
from guardrails.facts.phrases import phrase


class Rate(RateCondition):
    """At most `max` actions of this type by this account within the last hour or day."""

    kind: Literal["rate"]
    title: ClassVar[str] = "How often it may be done"
    max: Annotated[int, Field(ge=1, le=1000)]
    per: Literal["hour", "day"]

    @property
    def sentence(self) -> str:
        times = number_of(self.max, "time")
        if self.per == "hour":
            return phrase("it is done at most %(times)s within one hour", times=times)
        return phrase("it is done at most %(times)s within one day", times=times)

    @property
    def question(self) -> Question:
        return Question(what="actions", per=self.per, max=self.max)

    def in_words(self, tally: Tally) -> str:
        return f"This would be number {tally.count:.0f} within one {self.per}; {self.max} may be"

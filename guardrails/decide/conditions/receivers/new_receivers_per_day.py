"""How many people may be reached who were not reached before."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.decide.conditions.base import RateCondition, number_of
from guardrails.facts.counts import Question, Tally
from guardrails.facts.phrases import phrase


class NewReceiversPerDay(RateCondition):
    """At most `max` new receivers within a day, over all actions of this account. New are
    those whom the agent has not reached in the last 30 days."""

    kind: Literal["new_receivers_per_day"]
    title: ClassVar[str] = "New receivers in a day"
    max: Annotated[int, Field(ge=0, le=1000)]

    @property
    def sentence(self) -> str:
        return phrase(
            "it reaches at most %(receivers)s within a day",
            receivers=number_of(self.max, "new receiver"),
        )

    @property
    def question(self) -> Question:
        return Question(what="new_receivers", per="day", max=self.max)

    def in_words(self, tally: Tally) -> str:
        return f"{tally.count:.0f} new receivers would be reached in a day; {self.max} may be"

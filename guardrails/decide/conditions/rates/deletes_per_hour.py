"""How much may be destroyed."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.decide.conditions.base import RateCondition, number_of
from guardrails.facts.counts import Question, Tally
from guardrails.facts.phrases import phrase


class DeletesPerHour(RateCondition):
    """At most `max` destructive actions by this account within an hour, of whatever type.
    An action that destroys nothing always passes."""

    kind: Literal["deletes_per_hour"]
    title: ClassVar[str] = "What is destroyed in an hour"
    max: Annotated[int, Field(ge=1, le=1000)]

    @property
    def sentence(self) -> str:
        return phrase(
            "at most %(things)s may be destroyed within an hour",
            things=number_of(self.max, "thing"),
        )

    @property
    def question(self) -> Question:
        return Question(what="deletes", per="hour", max=self.max)

    def in_words(self, tally: Tally) -> str:
        return f"{tally.count:.0f} things would be destroyed within one hour; {self.max} may be"

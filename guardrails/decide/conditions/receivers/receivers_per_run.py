"""How many people one run may reach."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.decide.conditions.base import RateCondition, number_of
from guardrails.facts.counts import Question, Tally
from guardrails.facts.phrases import phrase


class ReceiversPerRun(RateCondition):
    """At most `max` different receivers in one run (a chat turn, the work on one inbound item, or
    what one outside agent does in a day), over all its actions on this account."""

    kind: Literal["receivers_per_run"]
    title: ClassVar[str] = "Receivers in one run"
    max: Annotated[int, Field(ge=1, le=1000)]

    @property
    def sentence(self) -> str:
        return phrase(
            "one run reaches at most %(receivers)s", receivers=number_of(self.max, "receiver")
        )

    @property
    def question(self) -> Question:
        return Question(what="receivers", per="run", max=self.max)

    def in_words(self, tally: Tally) -> str:
        return f"This run would reach {tally.count:.0f} receivers; {self.max} may be"

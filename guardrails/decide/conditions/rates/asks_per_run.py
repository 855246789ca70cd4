"""How often one run may ask a person."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Context, RateCondition, number_of
from guardrails.facts.counts import Question, Tally
from guardrails.facts.phrases import phrase


class AsksPerRun(RateCondition):
    """A person is asked at most `max` times in one run (what one outside agent does in a day is
    one), whether or not they confirmed. An action that asks nobody always passes."""

    kind: Literal["asks_per_run"]
    title: ClassVar[str] = "How often a run asks a person"
    max: Annotated[int, Field(ge=1, le=1000)]

    @property
    def sentence(self) -> str:
        return phrase("one run asks a person at most %(times)s", times=number_of(self.max, "time"))

    @property
    def question(self) -> Question:
        return Question(what="asks", per="run", max=self.max)

    def in_words(self, tally: Tally) -> str:
        return f"A person would be asked {tally.count:.0f} times in this run; {self.max} may be"

    def judge(self, context: Context) -> Check:
        if not context.needs_approval:
            return self.check(True, "Nobody is asked.")
        return super().judge(context)

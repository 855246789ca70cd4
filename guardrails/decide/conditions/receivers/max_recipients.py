"""How many receivers one message may have."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, number_of
from guardrails.facts.phrases import phrase


class MaxRecipients(Condition):
    """At most `max` receivers, counting to, cc and bcc together."""

    kind: Literal["max_recipients"]
    title: ClassVar[str] = "Number of receivers"
    max: Annotated[int, Field(ge=1, le=150)]
    about_receivers: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return phrase("it reaches at most %(receivers)s", receivers=number_of(self.max, "receiver"))

    def implies(self, other: Condition) -> bool:
        return isinstance(other, MaxRecipients) and self.max <= other.max

    def widened(self, context: Context) -> Condition:
        return self.model_copy(update={"max": max(self.max, len(context.receivers))})

    def judge(self, context: Context) -> Check:
        count = len(context.receivers)
        if not count:
            return self.check(False, "There are no receivers to look at.")
        return self.check(
            count <= self.max, f"Receivers of the message: {count}; permitted: {self.max}."
        )

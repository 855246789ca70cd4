"""What may have set the action off."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.contracts import Check, Trigger
from guardrails.decide.conditions.base import Condition, Context, either
from guardrails.facts.phrases import phrase

IN_WORDS: Mapping[Trigger, str] = {
    "chat": "a person in the chat",
    "webhook": "an inbound item",
    "pattern": "a learned pattern",
    "schedule": "a schedule",
    "mcp": "another agent over MCP",
    "operator": "an operator",
}


class StartedBy(Condition):
    """The action was set off by one of `any_of`: chat, webhook, pattern, schedule,
    operator, mcp (an outside agent)."""

    kind: Literal["trigger"]
    title: ClassVar[str] = "What set the action off"
    any_of: Annotated[tuple[Trigger, ...], Field(strict=False, min_length=1)]

    @property
    def sentence(self) -> str:
        who = either(phrase(IN_WORDS[one]) for one in self.any_of)
        return phrase("%(who)s set it off", who=who)

    def excludes(self, other: Condition) -> bool:
        return isinstance(other, StartedBy) and not set(self.any_of) & set(other.any_of)

    def implies(self, other: Condition) -> bool:
        return isinstance(other, StartedBy) and set(self.any_of) <= set(other.any_of)

    @property
    def always_holds(self) -> bool:
        return set(self.any_of) == set(IN_WORDS)

    def widened(self, context: Context) -> Condition:
        return self.model_copy(update={"any_of": (*self.any_of, context.trigger)})

    def judge(self, context: Context) -> Check:
        return self.check(
            context.trigger in self.any_of, f"The action was set off by: {context.trigger}."
        )

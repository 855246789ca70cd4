"""What may have set the action off."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.conditions.base import Condition, Context
from guardrails.contracts import Check, Trigger


class StartedBy(Condition):
    """The action was set off by one of `any_of`: chat, webhook, pattern, operator."""

    kind: Literal["trigger"]
    title: ClassVar[str] = "What set the action off"
    any_of: Annotated[tuple[Trigger, ...], Field(strict=False, min_length=1)]

    def evaluate(self, context: Context) -> Check:
        return self.check(
            context.trigger in self.any_of, f"The action was set off by: {context.trigger}."
        )

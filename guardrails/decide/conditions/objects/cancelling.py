"""Which events may be cancelled without a question."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context


class Cancelling(Condition):
    """In an allowed action it lets an event be cancelled unasked that the user made and named,
    once and not as a series, which only people of the organisation attend, where the cancelling is
    held first, so that it can be recalled. About others a person is asked. In the ceiling it says
    nothing."""

    kind: Literal["cancelling"]
    title: ClassVar[str] = "Cancelling one's own events"
    unasked: Literal["own"]

    @property
    def sentence(self) -> str:
        return "it is the user's own event, among colleagues and held first, or a person is asked"

    @property
    def opens(self) -> bool:
        return True

    @property
    def always_holds(self) -> bool:
        return True

    @property
    def lets_own_events_go(self) -> bool:
        return True

    def unfit(self, action: AnyAction) -> str:
        return "" if action.operation == "cancel_event" else "it is about cancelling events"

    def evaluate(self, context: Context) -> Check:
        why = self.unfit(context.action)
        return self.check(not why, f"This cannot be judged: {why}." if why else "It may be asked.")

"""Who may have written what others will read."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.decide.provenance import THE_USERS
from guardrails.facts.classes import WRITTEN


class WrittenBy(Condition):
    """`user`: every text, time and number is typed by the user in this request, each as a whole.
    `anyone`: the agent's own are permitted too, and nobody is asked because of them.

    Without this condition the agent's own are asked about wherever they reach others. In the
    ceiling `anyone` lifts nothing.
    """

    kind: Literal["text"]
    title: ClassVar[str] = "Who wrote the text"
    written_by: Literal["user", "anyone"]

    @property
    def sentence(self) -> str:
        if self.written_by == "anyone":
            return "text, times and numbers are the user's or the agent's own"
        return "every text, time and number is typed by the user"

    def unfit(self, action: AnyAction) -> str:
        if not WRITTEN & set(action.classes.values()):
            return "it is about text, and this action has none"
        return super().unfit(action)

    def implies(self, other: Condition) -> bool:
        return isinstance(other, WrittenBy) and self.written_by in ("user", other.written_by)

    @property
    def lets_own_text_out(self) -> bool:
        return self.written_by == "anyone"

    @property
    def opens(self) -> bool:
        return self.lets_own_text_out

    @property
    def always_holds(self) -> bool:
        return self.written_by == "anyone"

    def evaluate(self, context: Context) -> Check:
        if self.written_by == "anyone":
            return self.check(True, "The agent's own text is permitted.")
        if not context.sources:
            return self.check(False, "It is not known where anything comes from.")
        aims = {target.path for target in context.targets}
        foreign = [
            path
            for path, sources in context.sources.items()
            if context.action.class_at(path) in WRITTEN
            and THE_USERS.isdisjoint(sources)
            and path not in aims
        ]
        if foreign:
            return self.check(False, f"The user did not type this: {', '.join(foreign)}.")
        return self.check(True, "The user typed every text, time and number.")

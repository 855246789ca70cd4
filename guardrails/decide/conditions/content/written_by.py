"""Who may have written what others will read."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.decide.provenance import THE_USERS
from guardrails.facts.classes import WRITTEN
from guardrails.facts.phrases import phrase

WIDER = ("user", "agent", "anyone")


class WrittenBy(Condition):
    """`user`: every text, time and number is typed by the user in this request, each as a whole.
    `agent`: nobody is asked about text that the agent wrote for a person's request, as long as it
    is plain: no link but to the account's own domain or one that the user typed, no code, account
    number or password, no HTML. Its times and numbers are asked about. `anyone`: nobody is asked
    about text, times and numbers of its own.

    Without this condition the agent's own are asked about wherever they reach others. In the
    ceiling `agent` and `anyone` lift nothing.
    """

    kind: Literal["text"]
    title: ClassVar[str] = "Who wrote the text"
    written_by: Literal["user", "agent", "anyone"]

    @property
    def sentence(self) -> str:
        if self.written_by == "anyone":
            return phrase("text, times and numbers are the user's or the agent's own")
        if self.written_by == "agent":
            return phrase(
                "text is the user's or the agent's own, or a person is asked if it is not plain"
            )
        return phrase("every text, time and number is typed by the user")

    def unfit(self, action: AnyAction) -> str:
        if not WRITTEN & set(action.classes.values()):
            return "it is about text, and this action has none"
        return super().unfit(action)

    def implies(self, other: Condition) -> bool:
        return isinstance(other, WrittenBy) and WIDER.index(self.written_by) <= WIDER.index(
            other.written_by
        )

    @property
    def lets_own_text_out(self) -> bool:
        return self.written_by == "anyone"

    @property
    def lets_plain_text_out(self) -> bool:
        return self.written_by == "agent"

    @property
    def opens(self) -> bool:
        return self.always_holds

    @property
    def always_holds(self) -> bool:
        return self.written_by != "user"

    def judge(self, context: Context) -> Check:
        if self.always_holds:
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

"""Whether the agent made it itself, just now."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase


class CreatedInRun(Condition):
    """What the action is about was made by the agent earlier in the same run, as the ledger
    knows."""

    kind: Literal["created_in_run"]
    title: ClassVar[str] = "The agent made it in this run"

    needs: ClassVar[frozenset[Need]] = frozenset({"created"})

    @property
    def sentence(self) -> str:
        return phrase("the agent made it earlier in the same run")

    def unfit(self, action: AnyAction) -> str:
        return "" if action.object_field else "this action is about nothing that was there before"

    def judge(self, context: Context) -> Check:
        passed = "R" in context.sources.get(context.action.object_field or "", ())
        word = "made" if passed else "not made"
        return self.check(passed, f"It was {word} in this run.")

"""What becomes of a draft's receivers about whom nobody was asked."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts.phrases import phrase

IN_WORDS = {
    "mark": "receivers about whom nobody was asked are named in its subject",
    "leave_out": "receivers about whom nobody was asked are left out, and named in its first line",
}


class UnaskedReceivers(Condition):
    """`mark`: they stay, and the draft's subject names them. `leave_out`: they are left out of the
    receivers, and the first line names them. Without this condition those who provably take part
    in the thread are marked and all others left out. Whom the user typed, named or wrote to
    before, and who is listed by address, is asked about by nobody. In the ceiling it says nothing.
    """

    kind: Literal["unasked"]
    title: ClassVar[str] = "Receivers of drafts whom nobody knows"
    receivers: Literal["mark", "leave_out"]

    @property
    def sentence(self) -> str:
        return phrase(IN_WORDS[self.receivers])

    @property
    def unasked_receivers(self) -> Literal["mark", "leave_out"]:
        return self.receivers

    def unfit(self, action: AnyAction) -> str:
        return "" if action.is_draft else "it is about drafts"

    def excludes(self, other: Condition) -> bool:
        return isinstance(other, UnaskedReceivers) and self.receivers != other.receivers

    def judge(self, context: Context) -> Check:
        if not context.sources:
            return self.check(False, "It is not known where anything comes from.")
        return self.check(True, "It says how a draft tells of them.")

"""Whether the message may have blind copies."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts.phrases import phrase


class BlindCopies(Condition):
    """`forbid`: nobody gets a blind copy. `allow` limits nothing: each blind copy must be
    listed by its own address in any case."""

    kind: Literal["bcc"]
    title: ClassVar[str] = "Blind copies"
    bcc: Literal["forbid", "allow"] = "forbid"
    about_receivers: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        if self.bcc == "forbid":
            return phrase("nobody gets a blind copy")
        return phrase("with or without blind copy")

    def implies(self, other: Condition) -> bool:
        return isinstance(other, BlindCopies) and self.bcc in ("forbid", other.bcc)

    @property
    def always_holds(self) -> bool:
        return self.bcc == "allow"

    def unfit(self, action: AnyAction) -> str:
        if "bcc" not in action.arguments.model_fields:
            return "this action has no blind copies"
        return super().unfit(action)

    def judge(self, context: Context) -> Check:
        if self.bcc == "allow":
            return self.check(True, "Blind copies are permitted.")
        if not context.receivers:
            return self.check(False, "There are no receivers to look at.")
        hidden = [target.value for target in context.targets if target.role == "bcc"]
        if hidden:
            return self.check(False, f"{hidden[0]} would get a blind copy.")
        return self.check(True, "Nobody gets a blind copy.")

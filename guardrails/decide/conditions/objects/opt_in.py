"""Whether an admin opted the account in to a feature."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts.phrases import phrase


class OptIn(Condition):
    """`feature` is among the features ticked at the account."""

    kind: Literal["opt_in"]
    title: ClassVar[str] = "The account opted in"
    feature: Annotated[str, Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", max_length=50)]

    @property
    def sentence(self) -> str:
        return phrase("the account has opted in to “%(feature)s”", feature=self.feature)

    def judge(self, context: Context) -> Check:
        passed = self.feature in context.features
        state = "in to" if passed else "out of"
        return self.check(passed, f"The account is opted {state} “{self.feature}”.")

"""Whether two people have to say yes."""

from typing import ClassVar, Literal

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts.phrases import phrase


class TwoPeople(Condition):
    """A person is asked, and then another one. In an allowed action it holds for one account, in
    the ceiling for all of an organisation. Whose account it is, and who asked for the action, may
    say the first yes and not the second."""

    kind: Literal["two_people"]
    title: ClassVar[str] = "Two people say yes"

    @property
    def sentence(self) -> str:
        return phrase("two different people say yes")

    @property
    def people_needed(self) -> int:
        return 2

    def judge(self, context: Context) -> Check:
        return self.check(True, "Two people are asked.")

"""Whether a mailing list may be written to."""

from typing import ClassVar, Literal

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts.phrases import phrase

WIDER = ("forbid", "ask", "listed")
IN_WORDS = {
    "forbid": "no receiver is a mailing list",
    "ask": "no receiver is a mailing list, or a person is asked",
    "listed": "no receiver is a mailing list that an operator did not list, or a person is asked",
}


class MailingList(Condition):
    """Nobody knows who reads a mailing list. `forbid`: no receiver is one. `ask`, as without this
    condition: a person is always asked. `listed`: not about those listed by their own address. A
    mail sets off no mail to a list in any case."""

    kind: Literal["mailing_list"]
    title: ClassVar[str] = "Mailing lists"
    mailing_list: Literal["forbid", "ask", "listed"] = "forbid"
    about_receivers: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return phrase(IN_WORDS[self.mailing_list])

    @property
    def always_holds(self) -> bool:
        return self.mailing_list != "forbid"

    @property
    def opens(self) -> bool:
        return self.mailing_list == "listed"

    @property
    def lets_listed_lists_in(self) -> bool:
        return self.mailing_list == "listed"

    def implies(self, other: Condition) -> bool:
        return isinstance(other, MailingList) and WIDER.index(self.mailing_list) <= WIDER.index(
            other.mailing_list
        )

    def widened(self, context: Context) -> Condition:
        """A person is asked."""
        return self.model_copy(update={"mailing_list": "ask"})

    def judge(self, context: Context) -> Check:
        if self.always_holds:
            return self.check(True, "Mailing lists are not forbidden.")
        if not context.receivers:
            return self.check(False, "There are no receivers to look at.")
        lists = [one.value for one in context.targets if one.path in context.lists]
        if lists:
            return self.check(False, f"{lists[0]} is a mailing list: nobody knows who reads it.")
        return self.check(True, "No receiver is known as a mailing list.")

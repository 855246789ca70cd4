"""Whether the mail's sender is a stranger to the user."""

from typing import ClassVar, Literal

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.decide.conditions.sender.sender_relation import SenderRelation
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase


class FirstContact(Condition):
    """`first_contact` true: only mail of strangers (`guardrails.gather.strangers`), however often
    they wrote. False: only of others. Where it is not known what the user sent, neither holds."""

    kind: Literal["first_contact"]
    title: ClassVar[str] = "First contact with the sender"
    first_contact: bool = True
    needs: ClassVar[frozenset[Need]] = frozenset({"email", "correspondence", "strangers"})

    @property
    def sentence(self) -> str:
        if self.first_contact:
            return phrase("the sender is a stranger: the user never wrote to them")
        return phrase(
            "the sender is no stranger: the user wrote to them, or they are a colleague or listed"
        )

    def excludes(self, other: Condition) -> bool:
        if isinstance(other, FirstContact):
            return self.first_contact != other.first_contact
        # At a public domain one's own is also everybody else's.
        known = {"self", "corresponded"}
        return (
            self.first_contact and isinstance(other, SenderRelation) and set(other.any_of) <= known
        )

    def judge(self, context: Context) -> Check:
        facts, found = context.facts, context.strangers
        sender, known = facts.sender, facts.correspondence
        if sender is None or known is None or found is None or context.own_domain is None:
            return self.check(False, "It is not known whether the user wrote to the sender.")
        if not known.sent_readable:
            return self.check(False, "It cannot be read what the user sent.")
        is_first = sender in found
        detail = "The sender is a stranger." if is_first else "The sender is no stranger."
        return self.check(is_first == self.first_contact, detail)

"""Whether the mail's sender and the user have written to each other before."""

from typing import ClassVar, Literal

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.decide.conditions.sender.sender_relation import SenderRelation
from guardrails.facts import targets
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase


class FirstContact(Condition):
    """`first_contact` true: only mail of senders nobody here knows. False: only of known
    ones. In doubt a sender counts as known; where nothing is known at all, neither holds."""

    kind: Literal["first_contact"]
    title: ClassVar[str] = "First contact with the sender"
    first_contact: bool = True
    needs: ClassVar[frozenset[Need]] = frozenset({"email", "correspondence"})

    @property
    def sentence(self) -> str:
        if self.first_contact:
            return phrase("the sender and the user never wrote to each other before")
        return phrase("the sender and the user have written to each other before")

    def excludes(self, other: Condition) -> bool:
        if isinstance(other, FirstContact):
            return self.first_contact != other.first_contact
        known = {"self", "own_domain", "corresponded"}
        return (
            self.first_contact and isinstance(other, SenderRelation) and set(other.any_of) <= known
        )

    def judge(self, context: Context) -> Check:
        facts = context.facts
        sender, known = facts.sender, facts.correspondence
        if sender is None or known is None or context.own_domain is None:
            return self.check(False, "It is not known whether the sender wrote before.")
        if not known.sent_readable and known.received <= 1:
            return self.check(False, "It is not known whether the user wrote to the sender.")
        # The mail at hand is one of those received.
        is_first = (
            known.sent == 0
            and known.received <= 1
            and targets.domain_of(sender) != context.own_domain
        )
        detail = (
            "This is the first contact with the sender."
            if is_first
            else (f"The sender is known: {known.received} received, {known.sent} sent.")
        )
        return self.check(is_first == self.first_contact, detail)

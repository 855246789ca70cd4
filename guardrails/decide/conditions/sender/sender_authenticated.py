"""Whether the mail provably comes from its sender's domain."""

from typing import ClassVar, Literal

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase


class SenderAuthenticated(Condition):
    """The receiving server found DMARC to pass. Any other result, or none, does not hold."""

    kind: Literal["sender_authenticated"]
    title: ClassVar[str] = "The sender is proved"
    needs: ClassVar[frozenset[Need]] = frozenset({"email"})

    @property
    def sentence(self) -> str:
        return phrase("the mail provably comes from its sender's domain (DMARC)")

    def judge(self, context: Context) -> Check:
        email = context.facts.email
        found = email.authentication.dmarc if email else "not known"
        return self.check(context.facts.sender_authenticated, f"DMARC of the mail: {found}.")

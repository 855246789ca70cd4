"""Whether the mail says plainly who sent it."""

from typing import ClassVar, Literal

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase


class SenderExists(Condition):
    """The mail has one plain sender address. Bounces and mails with odd senders have none."""

    kind: Literal["sender_exists"]
    title: ClassVar[str] = "The mail has a sender"
    needs: ClassVar[frozenset[Need]] = frozenset({"email"})

    @property
    def sentence(self) -> str:
        return phrase("the mail has one plain sender")

    def judge(self, context: Context) -> Check:
        sender = context.facts.sender
        found = f"The mail is from {sender}." if sender else "The mail has no plain sender address."
        return self.check(sender is not None, found)

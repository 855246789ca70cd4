"""Who sent the mail, by exact address or exact domain."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, either
from guardrails.facts import targets
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase


class Sender(Condition):
    """The sender's address is in `addresses`, or its domain in `domains`. A subdomain is
    another domain, and display names do not count."""

    kind: Literal["sender"]
    title: ClassVar[str] = "Who sent the mail"
    addresses: targets.Addresses = ()
    domains: targets.Domains = ()
    needs: ClassVar[frozenset[Need]] = frozenset({"email"})

    @model_validator(mode="after")
    def _names_somebody(self) -> Self:
        if not (self.addresses or self.domains):
            raise ValueError("name at least one address or domain")
        return self

    @property
    def sentence(self) -> str:
        who = [*self.addresses]
        if self.domains:
            who.append(phrase("somebody at %(domains)s", domains=either(self.domains)))
        return phrase("the mail is from %(who)s", who=either(who))

    def excludes(self, other: Condition) -> bool:
        return isinstance(other, Sender) and not (
            any(other.lists(one) for one in self.addresses)
            or any(self.lists(one) for one in other.addresses)
            or set(self.domains) & set(other.domains)
        )

    def implies(self, other: Condition) -> bool:
        return isinstance(other, Sender) and (
            all(other.lists(one) for one in self.addresses)
            and set(self.domains) <= set(other.domains)
        )

    def lists(self, address: str) -> bool:
        return address in self.addresses or targets.domain_of(address) in self.domains

    def widened(self, context: Context) -> Condition | None:
        sender = context.facts.sender
        if sender is None:
            return None
        return self.model_copy(update={"addresses": (*self.addresses, sender)})

    def judge(self, context: Context) -> Check:
        sender = context.facts.sender
        if sender is None:
            return self.check(False, "The mail has no plain sender address.")
        return self.check(self.lists(sender), f"The mail is from {sender}.")

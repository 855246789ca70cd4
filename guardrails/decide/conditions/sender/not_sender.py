"""Who did not send the mail: everybody's but these."""

from collections.abc import Iterable
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, either
from guardrails.decide.conditions.sender.sender import Sender
from guardrails.decide.conditions.sender.sender_exists import SenderExists
from guardrails.facts import targets
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase


class NotSender(Condition):
    """The sender's address is none of `addresses`, and in none of `domains` or a subdomain of
    them, in whatever case: what shuts somebody out errs on that side. A mail without a plain
    sender fails."""

    kind: Literal["not_sender"]
    title: ClassVar[str] = "Who did not send the mail"
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
        return phrase("the mail is not from %(who)s", who=either(who))

    def excludes(self, other: Condition) -> bool:
        return isinstance(other, Sender) and self._names_all(other.addresses, other.domains)

    def implies(self, other: Condition) -> bool:
        if isinstance(other, NotSender):
            return self._names_all(other.addresses, other.domains)
        return isinstance(other, SenderExists)

    def _names_all(self, addresses: Iterable[str], domains: Iterable[str]) -> bool:
        return all(map(self._names, addresses)) and all(map(self._covers, domains))

    def _names(self, address: str) -> bool:
        folded = address.casefold()
        known = (one.casefold() for one in self.addresses)
        return folded in known or self._covers(targets.domain_of(folded))

    def _covers(self, domain: str) -> bool:
        return any(f".{domain.casefold()}".endswith(f".{one.casefold()}") for one in self.domains)

    def judge(self, context: Context) -> Check:
        sender = context.facts.sender
        if sender is None:
            return self.check(False, "The mail has no plain sender address.")
        return self.check(not self._names(sender), f"The mail is from {sender}.")

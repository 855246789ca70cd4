"""How the mail's sender is related to the user."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, either
from guardrails.decide.conditions.sender.sender_authenticated import SenderAuthenticated
from guardrails.decide.conditions.sender.sender_exists import SenderExists
from guardrails.facts import targets
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase

Relation = Literal["self", "own_domain", "corresponded", "thread"]
IN_WORDS: Mapping[Relation, str] = {
    "self": "the account itself",
    "own_domain": "somebody at the account's own domain",
    "corresponded": "somebody the user has written to",
    "thread": "somebody the user has written to in this thread",
}


class SenderRelation(Condition):
    """The sender is proved (DMARC) and has one of the relations in `any_of` to the user: the
    account itself, its own domain, somebody the user has written to (`corresponded`), or has
    written to in this very `thread`. Being written to by somebody is no relation."""

    kind: Literal["sender_relation"]
    title: ClassVar[str] = "Who the sender is to the user"
    any_of: Annotated[tuple[Relation, ...], Field(strict=False, min_length=1)]
    needs: ClassVar[frozenset[Need]] = frozenset({"email", "thread", "correspondence"})

    @property
    def sentence(self) -> str:
        who = either(phrase(IN_WORDS[one]) for one in self.any_of)
        return phrase("the proved sender is %(who)s", who=who)

    def implies(self, other: Condition) -> bool:
        if isinstance(other, SenderRelation):
            return set(self.any_of) <= set(other.any_of)
        return isinstance(other, SenderAuthenticated | SenderExists)

    def judge(self, context: Context) -> Check:
        sender = context.facts.sender
        if sender is None or not context.facts.sender_authenticated:
            return self.check(False, "The sender is not proved.")
        found = [one for one in self.any_of if related(one, sender, context)]
        who = either(IN_WORDS[one] for one in found) if found else "none of those permitted"
        return self.check(bool(found), f"{sender} is {who}.")


def related(relation: Relation, sender: str, context: Context) -> bool:
    facts = context.facts
    if relation == "self":
        return sender == targets.address_or_none(facts.own_address)
    if relation == "own_domain":
        return targets.domain_of(sender) == context.own_domain
    if relation == "corresponded":
        known = facts.correspondence
        # The provider counts without looking at case, so capitals would prove nothing.
        plain = sender == sender.lower()
        return plain and known is not None and known.address == sender and known.sent > 0
    return sender in facts.written_to

"""Whose thing the action is done to."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts import targets
from guardrails.facts.phrases import phrase

WIDER = ("self", "own_domain", "any")
IN_WORDS = {
    "self": "the account owns it",
    "own_domain": "somebody at the account's own domain owns it",
    "any": "its owner is known",
}


class Owner(Condition):
    """Who owns the document, made the event or reported the issue: the account itself (`self`),
    anybody at its own domain, or `any`. If the owner is not known, it does not hold."""

    kind: Literal["owner"]
    title: ClassVar[str] = "Who owns it"
    owner: Literal["self", "own_domain", "any"] = "self"

    @property
    def sentence(self) -> str:
        return phrase(IN_WORDS[self.owner])

    def unfit(self, action: AnyAction) -> str:
        if action.object_kind not in ("document", "event", "issue"):
            return "it is about who owns a document, event or issue"
        return ""

    def implies(self, other: Condition) -> bool:
        return isinstance(other, Owner) and WIDER.index(self.owner) <= WIDER.index(other.owner)

    def judge(self, context: Context) -> Check:
        found = context.facts.object_owner
        plain = targets.address_or_none(found) if found else None
        if plain is None:
            return self.check(False, "It is not known whose it is.")
        own = targets.address_or_none(context.facts.own_address)
        passed = {
            "self": own is not None and plain.casefold() == own.casefold(),
            "own_domain": targets.domain_of(plain) == context.own_domain,
            "any": True,
        }[self.owner]
        return self.check(passed, f"It belongs to {plain}.")

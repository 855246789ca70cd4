"""Who else sees what the action is done to."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts import targets
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase

WIDER = ("private", "internal", "any")
IN_WORDS = {
    "private": "nobody else sees it",
    "internal": "nobody outside the account's own domain sees it",
    "any": "everybody else who sees it",
}


class Audience(Condition):
    """Who else reads the document or its folder, attends the event or reads the mailbox:
    nobody (`private`), only people at the account's own domain (`internal`), or `any`, which
    limits nothing. This is not about the receivers of the action itself."""

    kind: Literal["audience"]
    title: ClassVar[str] = "Who else sees it"
    audience: Literal["private", "internal", "any"] = "private"

    @property
    def sentence(self) -> str:
        return phrase(IN_WORDS[self.audience])

    @property
    def always_holds(self) -> bool:
        return self.audience == "any"

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        found: dict[str | None, Need] = {"document": "folders", None: "folders"}
        return frozenset({found.get(action.object_kind, "mailbox")})

    def unfit(self, action: AnyAction) -> str:
        if action.object_kind is None and "folder" in action.takes:
            return ""
        if action.object_kind in ("document", "event", "email", "draft"):
            return ""
        return "it is about who sees a document, event or mailbox"

    def implies(self, other: Condition) -> bool:
        return isinstance(other, Audience) and WIDER.index(self.audience) <= WIDER.index(
            other.audience
        )

    def judge(self, context: Context) -> Check:
        if self.always_holds:
            return self.check(True, "Anybody may see it.")
        kind = context.action.object_kind
        facts = context.facts
        people = facts.readers(kind) if kind else None if facts.folders is None else ()
        if people is None:
            return self.check(False, "It is not known who sees it.")
        reached = (target.value for target in context.targets if target.role == "audience")
        everybody = sorted({*people, *reached})
        own = context.own_domain
        outside = [
            one
            for one in everybody
            if self.audience == "private"
            or own is None
            or (plain := targets.address_or_none(one)) is None
            or targets.domain_of(plain) != own
        ]
        if outside:
            return self.check(False, f"{outside[0]} sees it too.")
        return self.check(True, f"{len(everybody)} others see it.")

"""What may be sent along."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.decide.conditions.content.outgoing import ContentCondition
from guardrails.facts.content import Content
from guardrails.facts.phrases import phrase
from guardrails.words.typed import typed

WIDER = ("none", "named", "any")
IN_WORDS = {
    "none": "nothing is attached",
    "named": "the user named every attachment exactly",
    "any": "with or without attachments",
}


class Attachments(ContentCondition):
    """Files that go along with a mail: `none`, only those that the user typed the whole name
    of (`named`), or `any`, which limits nothing."""

    kind: Literal["attachments"]
    title: ClassVar[str] = "Attachments"
    attachments: Literal["none", "named", "any"] = "none"

    @property
    def sentence(self) -> str:
        return phrase(IN_WORDS[self.attachments])

    @property
    def always_holds(self) -> bool:
        return self.attachments == "any"

    def unfit(self, action: AnyAction) -> str:
        if action.sends_mail:
            return ""
        return "this action sends no attachments"

    def implies(self, other: Condition) -> bool:
        return isinstance(other, Attachments) and WIDER.index(self.attachments) <= WIDER.index(
            other.attachments
        )

    def judge_content(self, found: Content, context: Context) -> Check:
        unnamed = [
            name
            for name in found.attachments
            if self.attachments == "none" or not typed(name, context.words)
        ]
        if unnamed:
            return self.check(False, f"“{unnamed[0]}” is attached.")
        return self.check(True, f"{len(found.attachments)} files are attached.")

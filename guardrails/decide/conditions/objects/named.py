"""Whether the user said which one they mean."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts.exposure import NAMED
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase
from guardrails.words.typed import named


class Named(Condition):
    """The user typed, in this request, the id or the whole title of what the action is about, or
    words that mean it alone (“my first meeting on Friday”). A title of one or two words counts
    only in quotation marks, because anybody may call a mail “the report”. With `unnamed: ask` a
    person is asked about what nobody named."""

    kind: Literal["named"]
    title: ClassVar[str] = "The user named it"
    unnamed: Literal["refuse", "ask"] = "refuse"

    @property
    def sentence(self) -> str:
        if self.unnamed == "ask":
            return phrase("the user named it exactly, or a person is asked")
        return phrase("the user named it exactly")

    def implies(self, other: Condition) -> bool:
        return isinstance(other, Named) and self.unnamed in ("refuse", other.unnamed)

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        return frozenset({"email"}) if action.object_kind == "email" else frozenset()

    def unfit(self, action: AnyAction) -> str:
        return "" if action.object_field else "this action is about nothing that has a name"

    def judge(self, context: Context) -> Check:
        if self.unnamed == "ask":
            if not context.sources:
                return self.check(False, "It is not known where anything comes from.")
            return self.check(True, "A person is asked about what nobody named.")
        return self._judge(context)

    def doubt(self, context: Context) -> str:
        if self.unnamed != "ask" or self._judge(context).passed:
            return ""
        return phrase("Nobody named this one in the request.")

    def _judge(self, context: Context) -> Check:
        given, action = context.object_id, context.action
        if not given or not action.object_kind:
            return self.check(False, "It is not about any object.")
        if not NAMED.isdisjoint(context.sources.get(action.object_field or "", ())):
            return self.check(True, "The user named it.")
        there = context.facts.was_read(action.object_kind, given)
        title = context.facts.object_title if there else ""
        passed = named(title, context.words)
        return self.check(passed, "The user typed its title." if passed else "Nobody named it.")

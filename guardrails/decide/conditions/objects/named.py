"""Whether the user said which one they mean."""

from typing import ClassVar, Literal

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts.facts import Need
from guardrails.words.typed import named


class Named(Condition):
    """The user typed, in this request, the id or the whole title of what the action is
    about. A title of one or two words counts only in quotation marks, because anybody may call a
    mail “the report”."""

    kind: Literal["named"]
    title: ClassVar[str] = "The user named it"

    @property
    def sentence(self) -> str:
        return "the user named it exactly"

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        return frozenset({"email"}) if action.object_kind == "email" else frozenset()

    def unfit(self, action: AnyAction) -> str:
        return "" if action.object_field else "this action is about nothing that has a name"

    def evaluate(self, context: Context) -> Check:
        given, action = context.object_id, context.action
        if not given or not action.object_kind:
            return self.check(False, "It is not about any object.")
        if "U" in context.sources.get(action.object_field or "", ()):
            return self.check(True, "The user typed its id.")
        there = context.facts.was_read(action.object_kind, given)
        title = context.facts.object_title if there else ""
        passed = named(title, context.words)
        return self.check(passed, "The user typed its title." if passed else "Nobody named it.")

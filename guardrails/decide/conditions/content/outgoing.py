"""What conditions about the content of outgoing text have in common."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.facts import content
from guardrails.facts.content import Content
from guardrails.facts.facts import Need


class ContentCondition(Condition):
    """Looks at every text that goes out: what is written, and the mail, document or event that
    others get to see by this action."""

    @abstractmethod
    def judge_content(self, found: Content, context: Context) -> Check: ...

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        if not action.exposes_object:
            return frozenset()
        return frozenset({"content", "email"} if action.object_kind == "email" else {"content"})

    def unfit(self, action: AnyAction) -> str:
        return "" if action.texts or action.exposes_object else "this action sends no text"

    def judge(self, context: Context) -> Check:
        if self.always_holds:
            return self.check(True, "It limits nothing.")
        found = outgoing(context)
        if found is None:
            return self.check(False, "What would go out could not be read.")
        return self.judge_content(found, context)


def _texts(value: Any) -> Iterator[str]:
    """Everything in an argument that can be read, names included."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif value is not None:
        yield str(value)


def outgoing(context: Context) -> Content | None:
    """What goes out by this action. None when it is not known."""
    given = (context.arguments.get(name) for name in context.action.texts)
    written = content.of([text for one in given for text in _texts(one)])
    for file in context.facts.attached:
        if file.content is None:
            return None
        written += replace(file.content, attachments=(file.object_title,))
    if not context.action.exposes_object:
        return written if written.chars or context.arguments else None
    return written + context.facts.content if context.facts.content else None

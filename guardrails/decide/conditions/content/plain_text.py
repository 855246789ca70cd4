"""Whether outgoing text is text alone."""

from typing import ClassVar, Literal

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Context
from guardrails.decide.conditions.content.outgoing import ContentCondition
from guardrails.facts.content import Content
from guardrails.facts.phrases import phrase


class PlainTextOnly(ContentCondition):
    """What goes out has neither HTML nor images, in markdown or otherwise."""

    kind: Literal["plain_text_only"]
    title: ClassVar[str] = "Plain text only"

    @property
    def sentence(self) -> str:
        return phrase("its text is plain, without HTML and images")

    def judge_content(self, found: Content, context: Context) -> Check:
        return self.check(found.plain, "It is plain." if found.plain else "It has HTML or images.")

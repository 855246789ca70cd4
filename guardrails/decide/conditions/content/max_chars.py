"""How long outgoing text may be."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context
from guardrails.decide.conditions.content.outgoing import ContentCondition, outgoing
from guardrails.facts.content import Content
from guardrails.facts.phrases import phrase


class MaxChars(ContentCondition):
    """Everything that goes out has at most `max` characters: subject and text, and what is
    forwarded or shared."""

    kind: Literal["max_chars"]
    title: ClassVar[str] = "Length of the text"
    max: Annotated[int, Field(ge=1, le=1_000_000)]

    @property
    def sentence(self) -> str:
        return phrase("its text has at most %(number)s characters", number=self.max)

    def implies(self, other: Condition) -> bool:
        return isinstance(other, MaxChars) and self.max <= other.max

    def widened(self, context: Context) -> Condition | None:
        found = outgoing(context)
        return self.model_copy(update={"max": max(self.max, found.chars)}) if found else None

    def judge_content(self, found: Content, context: Context) -> Check:
        detail = f"Its text has {found.chars} characters; {self.max} are permitted."
        return self.check(found.chars <= self.max, detail)

"""Which labels the mail or issue at hand carries."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, every
from guardrails.facts.facts import Need
from guardrails.facts.phrases import phrase
from guardrails.facts.text import Identifier

Ids = Annotated[tuple[Identifier, ...], Field(strict=False, max_length=50)]


class Labels(Condition):
    """The mail or issue carries every label in `carries` and none in `lacks`, by their ids."""

    kind: Literal["labels"]
    title: ClassVar[str] = "Labels it carries"
    carries: Ids = ()
    lacks: Ids = ()

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.carries or self.lacks):
            raise ValueError("name at least one label")
        if both := set(self.carries) & set(self.lacks):
            raise ValueError(f"“{min(both)}” cannot be both carried and lacking")
        return self

    @property
    def sentence(self) -> str:
        parts = []
        if self.carries:
            parts.append(phrase("it carries the label %(labels)s", labels=every(self.carries)))
        if self.lacks:
            parts.append(phrase("it lacks the label %(labels)s", labels=every(self.lacks)))
        return every(parts)

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        return frozenset({"email"}) if action.object_kind == "email" else frozenset()

    def unfit(self, action: AnyAction) -> str:
        if action.object_kind in ("email", "issue"):
            return ""
        return "it is about the labels of a mail or issue"

    def excludes(self, other: Condition) -> bool:
        return isinstance(other, Labels) and bool(
            set(self.carries) & set(other.lacks) or set(self.lacks) & set(other.carries)
        )

    def implies(self, other: Condition) -> bool:
        return (
            isinstance(other, Labels)
            and set(self.carries) >= set(other.carries)
            and set(self.lacks) >= set(other.lacks)
        )

    def judge(self, context: Context) -> Check:
        labelled = context.facts.email or context.facts.issue
        if labelled is None:
            return self.check(False, "It is not known which labels it carries.")
        there = set(labelled.labels)
        passed = there >= set(self.carries) and there.isdisjoint(self.lacks)
        return self.check(passed, f"It carries {len(there)} labels.")

"""Where the object lies that others get to see."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, either
from guardrails.facts.exposure import Exposure
from guardrails.facts.facts import CALENDAR, Need
from guardrails.facts.phrases import phrase
from guardrails.facts.text import Identifier

Places = Annotated[tuple[Identifier, ...], Field(strict=False, min_length=1, max_length=50)]
NEEDS: dict[str | None, Need] = {"document": "folders", "email": "email"}


class Place(Condition):
    """The document lies in one of these folders or below it, the mail carries one of these labels,
    by their ids; `calendar` is the account's calendar.

    In an allowed action it also lets go what lies there although the user did not name it in
    this request, but nothing that the agent wrote, moved or labelled without a person's word. In
    the ceiling it only limits.
    """

    kind: Literal["place"]
    title: ClassVar[str] = "Where it lies"
    places: Places

    @property
    def sentence(self) -> str:
        return phrase(
            "it lies in %(places)s, and then the user need not name it",
            places=either(self.places),
        )

    @property
    def opens(self) -> bool:
        return True

    def needs_for(self, action: AnyAction) -> frozenset[Need]:
        need = NEEDS.get(action.object_kind)
        return frozenset({need}) if need else frozenset()

    def unfit(self, action: AnyAction) -> str:
        if action.object_kind not in ("document", "email", "event"):
            return "it is about where a document, mail or event lies"
        if action.object_kind == "event" and CALENDAR not in self.places:
            return f"all events lie in “{CALENDAR}”"
        return ""

    def implies(self, other: Condition) -> bool:
        return isinstance(other, Place) and set(self.places) <= set(other.places)

    def lets_out(self, exposure: Exposure) -> bool:
        return not set(self.places).isdisjoint(exposure.places)

    def judge(self, context: Context) -> Check:
        there = context.facts.object_places
        passed = not set(self.places).isdisjoint(there)
        return self.check(passed, f"It lies in {', '.join(there) or 'no place that is known'}.")

"""How long before an event somebody may still touch it."""

from datetime import datetime, timedelta
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from guardrails.actions.base import AnyAction
from guardrails.contracts import Check
from guardrails.decide.conditions.base import Condition, Context, number_of
from guardrails.facts.phrases import phrase


class Notice(Condition):
    """The event starts `min_hours` from now or later, both as it stands and as it would be."""

    kind: Literal["notice"]
    title: ClassVar[str] = "Notice before the event"
    min_hours: Annotated[int, Field(ge=1, le=8760)]

    @property
    def sentence(self) -> str:
        return phrase(
            "the event starts at least %(hours)s from now", hours=number_of(self.min_hours, "hour")
        )

    def unfit(self, action: AnyAction) -> str:
        if action.object_kind == "event" or "start" in action.arguments.model_fields:
            return ""
        return "it is about when an event starts"

    def implies(self, other: Condition) -> bool:
        return isinstance(other, Notice) and self.min_hours >= other.min_hours

    def judge(self, context: Context) -> Check:
        starts = self.starts(context)
        if not starts or any(one is None or one.tzinfo is None for one in starts):
            return self.check(False, "It is not known when the event starts.")
        first = min(one for one in starts if one is not None)
        passed = first - context.now >= timedelta(hours=self.min_hours)
        return self.check(passed, f"The event starts {first:%Y-%m-%d %H:%M %Z}.")

    def starts(self, context: Context) -> list[datetime | None]:
        """When it starts now, and when it would; None for what cannot be read."""
        found: list[datetime | None] = []
        if context.action.object_kind == "event":
            found.append(context.facts.event.start if context.facts.event else None)
        if isinstance(given := context.arguments.get("start"), str):
            found.append(datetime.fromisoformat(given))
        return found

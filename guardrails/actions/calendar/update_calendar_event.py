"""Change one event. Everybody who attends it gets word of that."""

from collections.abc import Sequence
from typing import Any, Self

from pydantic import model_validator

from guardrails.actions.base import Arguments, Call, Difference, Inverse, in_words
from guardrails.actions.calendar.events import (
    Moment,
    added,
    exposed,
    in_order,
    in_zone_of,
    kind_of,
    people_of,
    titled,
    with_people,
)
from guardrails.actions.kinds import CalendarAction
from guardrails.actions.mail.messages import receivers
from guardrails.facts.effects import Effect, reaching
from guardrails.facts.exposure import Exposure, Reader
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.targets import Addresses, Target
from guardrails.facts.text import Body, Line, ObjectId, visible
from integrations.ports.calendar import CalendarWriter


class UpdateCalendarEventArguments(Arguments):
    """What is absent or null stays as it is; `attendees` are all who attend from then on."""

    event_id: ObjectId
    title: Line | None = None
    description: Body | None = None
    start: Moment | None = None
    end: Moment | None = None
    location: Line | None = None
    attendees: Addresses | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if not self.changes():
            raise ValueError("name at least one field to change")
        if (self.start is None) != (self.end is None):
            raise ValueError("give start and end together")
        if self.start and self.end and not in_order(self.start, self.end):
            raise ValueError("end must be after start")
        return self

    def changes(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_none=True, exclude={"event_id"})


class UpdateCalendarEvent(CalendarAction[UpdateCalendarEventArguments]):
    name = "update_calendar_event"
    operation = "change_event"
    resource_type = "event"
    title = "Change an event"
    description = (
        "Change one event, or by its id one of a series alone. What is not named stays as it is. "
        "Everybody who attends it, before or after, and who made it must be listed."
    )
    needs = frozenset()
    takes = ("recipient", "recipient_domain")
    object_kind = "event"
    object_field = "event_id"
    exposes_object = True
    arguments = UpdateCalendarEventArguments

    def targets(self, arguments: UpdateCalendarEventArguments) -> tuple[Target, ...]:
        return receivers("to", arguments.attendees or (), field="attendees")

    def implied(
        self, arguments: UpdateCalendarEventArguments, facts: Facts
    ) -> tuple[Target, ...] | None:
        return people_of(facts)

    def effects(self, arguments: UpdateCalendarEventArguments, facts: Facts) -> tuple[Effect, ...]:
        people = facts.others((*(facts.event_people or ()), *(arguments.attendees or ())))
        return reaching(people, "%(people)s hear of the change")

    def exposes(
        self, arguments: UpdateCalendarEventArguments, facts: Facts
    ) -> tuple[Exposure, ...]:
        # A mere change of time lets nobody see what they do not see already.
        coming = facts.others(arguments.attendees or ())
        texts = (arguments.title, arguments.description, arguments.location)
        text = "\n".join(one for one in texts if one)
        found = exposed(facts, [Reader(one, "attendee") for one in coming])
        return found or (added(facts, text) if text else ())

    def undo(self, arguments: UpdateCalendarEventArguments, facts: Facts) -> str:
        if facts.event is None:
            return ""
        before = facts.event.model_dump(mode="json")
        before["attendees"] = ", ".join(one.email for one in facts.event.attendees)
        was = "; ".join(
            f"{name} to “{visible(str(before[name] or ''), limit=200)}”"
            for name in arguments.changes()
        )
        return f"Set back {was}."

    def differences(
        self, arguments: UpdateCalendarEventArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        if facts.event is None:
            return ()
        before = facts.event.model_dump(mode="json")
        before["attendees"] = [one.email for one in facts.event.attendees]
        if arguments.start and arguments.end:
            before["start"] = in_zone_of(facts.event.start, arguments.start)
            before["end"] = in_zone_of(facts.event.end, arguments.end)
        return tuple(
            (name, in_words(before.get(name)), in_words(value))
            for name, value in arguments.changes().items()
        )

    def inverse(
        self, arguments: UpdateCalendarEventArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse | None:
        if facts.event is None:
            return None
        before = facts.event.model_dump(mode="json")
        before["attendees"] = [one.email for one in facts.event.attendees]
        names = list(arguments.changes())
        values = {name: before[name] for name in names}
        return Inverse(
            action_type="restore_event",
            arguments={"event_id": arguments.event_id, "names": names, **values},
        )

    def describe(self, arguments: UpdateCalendarEventArguments, facts: Facts) -> str:
        people = with_people(facts, facts.others(arguments.attendees or ()))
        return phrase(
            "Change %(event)s%(people)s (%(changes)s) %(title)s",
            event=kind_of(facts),
            people=people,
            changes=joined(map(phrase, arguments.changes())),
            title=titled(facts),
        )

    def perform(
        self, writer: CalendarWriter, arguments: UpdateCalendarEventArguments, call: Call
    ) -> dict[str, Any]:
        return writer.change_event(
            arguments.event_id, arguments.changes(), revision=call.revision, key=call.key
        )

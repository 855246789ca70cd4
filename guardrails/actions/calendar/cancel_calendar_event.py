"""Cancel one event. Everybody who attends it gets word of that."""

from collections.abc import Sequence
from typing import Any

from guardrails.actions.base import Arguments, CalendarAction, Call, Difference
from guardrails.actions.calendar.events import people_of, titled, with_people
from guardrails.facts.effects import Effect, reaching
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Target
from guardrails.facts.text import ObjectId
from integrations.ports.calendar import CalendarWriter


class CancelCalendarEventArguments(Arguments):
    event_id: ObjectId


class CancelCalendarEvent(CalendarAction[CancelCalendarEventArguments]):
    name = "cancel_calendar_event"
    operation = "cancel_event"
    resource_type = "event"
    title = "Cancel an event"
    description = "Cancel one event. Everybody who attends it and who made it must be listed."
    needs = frozenset()
    takes = ("recipient", "recipient_domain")
    object_kind = "event"
    object_field = "event_id"
    arguments = CancelCalendarEventArguments

    def implied(
        self, arguments: CancelCalendarEventArguments, facts: Facts
    ) -> tuple[Target, ...] | None:
        return people_of(facts)

    def effects(self, arguments: CancelCalendarEventArguments, facts: Facts) -> tuple[Effect, ...]:
        gone = Effect(kind="destructive", because="the event and the answers to it will be gone")
        return (*reaching(facts.event_people or (), "hear that it is cancelled"), gone)

    def differences(
        self, arguments: CancelCalendarEventArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        return (("on the calendar", titled(facts), "cancelled"),)

    def describe(self, arguments: CancelCalendarEventArguments, facts: Facts) -> str:
        return f"Cancel an event{with_people(facts)} {titled(facts)}"

    def perform(
        self, writer: CalendarWriter, arguments: CancelCalendarEventArguments, call: Call
    ) -> dict[str, Any]:
        return writer.cancel_event(arguments.event_id, revision=call.revision, key=call.key)

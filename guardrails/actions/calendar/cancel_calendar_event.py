"""Cancel one event. Everybody who attends it gets word of that."""

from collections.abc import Sequence
from typing import Any

from guardrails.actions.base import Arguments, Call, Difference, InvalidArguments, Inverse
from guardrails.actions.calendar.create_calendar_event import CreateCalendarEvent
from guardrails.actions.calendar.events import kind_of, people_of, titled, with_people
from guardrails.actions.calendar.restore_event import RestoreEvent
from guardrails.actions.kinds import CalendarAction
from guardrails.facts.effects import Effect, reaching
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
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
    description = (
        "Cancel one event, or by its id one of a series alone. Everybody who attends it and who "
        "made it must be listed."
    )
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
        gone = Effect(
            kind="destructive", because=phrase("the event and the answers to it will be gone")
        )
        return (*reaching(facts.event_people or (), "%(people)s hear that it is cancelled"), gone)

    def undo(self, arguments: CancelCalendarEventArguments, facts: Facts) -> str:
        inverse = self.inverse(arguments, facts, ())
        if inverse is None:
            return ""
        people = with_people(facts).removeprefix(" with ")
        if inverse.action_type == RestoreEvent.name:
            return "Have it take place again." + f" {people} hear of it." * bool(people)
        return "Make the event again." + f" {people} get a new invitation." * bool(people)

    def inverse(
        self, arguments: CancelCalendarEventArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse | None:
        """One of a series is still there and takes place again; a whole event is made anew. None
        for what cannot be made again as it was: a series, whole days, somebody else's event."""
        event = facts.event
        if event is None or event.recurrence or event.this_and_future:
            return None
        if event.series_id:
            tentative = event.status == "tentative"
            given = {"names": ["status"], "status": "tentative" if tentative else "confirmed"}
            return Inverse(
                action_type=RestoreEvent.name,
                arguments={"event_id": arguments.event_id, **given},
            )
        if event.all_day or not facts.is_own:
            return None
        fields = {
            "title": event.title,
            "start": event.start.isoformat(),
            "end": event.end.isoformat(),
            "description": event.description,
            "location": event.location or None,
            "attendees": facts.others(one.email for one in event.attendees),
        }
        try:
            again = CreateCalendarEvent().parse(fields).canonical()
        except InvalidArguments:
            return None
        return Inverse(action_type=CreateCalendarEvent.name, arguments=again)

    def differences(
        self, arguments: CancelCalendarEventArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        return (("on the calendar", titled(facts), phrase("cancelled")),)

    def describe(self, arguments: CancelCalendarEventArguments, facts: Facts) -> str:
        return phrase(
            "Cancel %(event)s%(people)s %(title)s",
            event=kind_of(facts),
            people=with_people(facts),
            title=titled(facts),
        )

    def perform(
        self, writer: CalendarWriter, arguments: CancelCalendarEventArguments, call: Call
    ) -> dict[str, Any]:
        return writer.cancel_event(arguments.event_id, revision=call.revision, key=call.key)

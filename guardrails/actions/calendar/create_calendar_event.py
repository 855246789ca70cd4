"""Create one event, with or without other people."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import model_validator

from guardrails.actions.base import Arguments, Call, Inverse, Outcome, artifact
from guardrails.actions.calendar.events import Moment, in_order, with_all
from guardrails.actions.kinds import CalendarAction
from guardrails.actions.mail.messages import named, receivers
from guardrails.facts.effects import Effect, reaching
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Addresses, Target
from guardrails.facts.text import Body, Line, quote
from integrations.ports.calendar import CalendarWriter


class CreateCalendarEventArguments(Arguments):
    title: Line
    start: Moment
    end: Moment
    description: Body = ""
    location: Line | None = None
    attendees: Addresses = ()

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if not in_order(self.start, self.end):
            raise ValueError("end must be after start")
        return self


class CreateCalendarEvent(CalendarAction[CreateCalendarEventArguments]):
    name = "create_calendar_event"
    operation = "create_event"
    resource_type = "event"
    title = "Create an event"
    description = (
        "Create one event in the user's calendar. Attendees are invited at once and must be "
        "listed. Times need a zone."
    )
    needs = frozenset()
    takes = ("recipient", "recipient_domain")
    arguments = CreateCalendarEventArguments

    def targets(self, arguments: CreateCalendarEventArguments) -> tuple[Target, ...]:
        return receivers("to", arguments.attendees, field="attendees")

    def effects(self, arguments: CreateCalendarEventArguments, facts: Facts) -> tuple[Effect, ...]:
        return reaching(arguments.attendees, "%(people)s get an invitation")

    def undo(self, arguments: CreateCalendarEventArguments, facts: Facts) -> str:
        return "Cancel the event." + (" Who was invited gets a note." * bool(arguments.attendees))

    def inverse(
        self, arguments: CreateCalendarEventArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse:
        return Inverse(
            action_type="cancel_calendar_event",
            arguments={},
            from_result={"event_id": "event_id"},
        )

    def describe(self, arguments: CreateCalendarEventArguments, facts: Facts) -> str:
        people = with_all(named(arguments.attendees)) if arguments.attendees else ""
        return phrase(
            "Create an event%(people)s, %(start)s: %(title)s",
            people=people,
            start=arguments.start,
            title=quote(arguments.title),
        )

    def perform(
        self, writer: CalendarWriter, arguments: CreateCalendarEventArguments, call: Call
    ) -> dict[str, Any]:
        return writer.create_event(
            arguments.model_dump(mode="json", exclude_none=True), key=call.key
        )

    def outcome(
        self, arguments: CreateCalendarEventArguments, answer: Mapping[str, Any]
    ) -> Outcome:
        names = {"event_id": "id", "url": "url"}
        result = {name: str(answer[key]) for name, key in names.items() if answer.get(key)}
        return result, artifact("event", answer)

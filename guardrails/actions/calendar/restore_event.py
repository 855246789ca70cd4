"""Put fields of an event back to what they were. For undoing alone."""

from typing import Annotated, Any, Literal

from pydantic import Field

from guardrails.actions.base import Arguments, Call
from guardrails.actions.calendar.events import people_of, titled, with_people
from guardrails.actions.kinds import CalendarAction
from guardrails.facts.classes import Is
from guardrails.facts.effects import Effect, reaching
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.targets import Target
from guardrails.facts.text import ObjectId
from integrations.ports.calendar import CalendarWriter

Name = Annotated[
    Literal["title", "description", "start", "end", "location", "attendees", "status"],
    Is("choice"),
]
Text = Annotated[str, Is("text")]
Time = Annotated[str, Is("time")]


class RestoreEventArguments(Arguments):
    """The values are the provider's own, from before. `names` says which of them count."""

    event_id: ObjectId
    names: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    title: Text = ""
    description: Text = ""
    start: Time = ""
    end: Time = ""
    location: Text | None = None
    attendees: Annotated[tuple[str, ...], Field(strict=False), Is("target")] = ()
    status: Annotated[Literal["confirmed", "tentative"], Is("choice")] = "confirmed"

    def changes(self) -> dict[str, Any]:
        found = self.model_dump(mode="json")
        return {name: found[name] for name in self.names}


class RestoreEvent(CalendarAction[RestoreEventArguments]):
    name = "restore_event"
    operation = "change_event"
    resource_type = "event"
    title = "Put an event back"
    description = "Put fields of an event back to what they were."
    needs = frozenset()
    object_kind = "event"
    object_field = "event_id"
    only_undoes = True
    arguments = RestoreEventArguments

    def implied(self, arguments: RestoreEventArguments, facts: Facts) -> tuple[Target, ...] | None:
        return people_of(facts)

    def effects(self, arguments: RestoreEventArguments, facts: Facts) -> tuple[Effect, ...]:
        people = facts.others((*(facts.event_people or ()), *arguments.attendees))
        return reaching(people, "%(people)s hear of the change")

    def describe(self, arguments: RestoreEventArguments, facts: Facts) -> str:
        return phrase(
            "Put back %(names)s of an event%(people)s %(title)s",
            names=joined(map(phrase, arguments.names)),
            people=with_people(facts),
            title=titled(facts),
        )

    def perform(
        self, writer: CalendarWriter, arguments: RestoreEventArguments, call: Call
    ) -> dict[str, Any]:
        return writer.change_event(
            arguments.event_id, arguments.changes(), revision=call.revision, key=call.key
        )

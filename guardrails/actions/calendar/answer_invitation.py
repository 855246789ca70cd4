"""Answer somebody else's invitation, and propose another time. Who invites gets word of it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import model_validator

from guardrails.actions.base import Arguments, Call, Difference, in_words
from guardrails.actions.calendar.events import Moment, in_order, titled
from guardrails.actions.kinds import CalendarAction
from guardrails.facts.classes import Is
from guardrails.facts.effects import Effect, reaching
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.targets import Target, audience
from guardrails.facts.text import ObjectId
from integrations.ports.calendar import Answer, CalendarWriter

ANSWERS: Mapping[Answer, str] = {
    "accepted": phrase("Accept the invitation"),
    "tentative": phrase("Answer the invitation with “maybe”"),
    "declined": phrase("Decline the invitation"),
}


class AnswerInvitationArguments(Arguments):
    """`start` and `end` are another time that suits the user; together or not at all."""

    event_id: ObjectId
    answer: Annotated[Answer, Is("choice")]
    start: Moment | None = None
    end: Moment | None = None

    @model_validator(mode="after")
    def _proposes_a_whole_time(self) -> Self:
        if (self.start is None) != (self.end is None):
            raise ValueError("give start and end together")
        if self.start and self.end and not in_order(self.start, self.end):
            raise ValueError("end must be after start")
        if self.start and self.answer == "accepted":
            raise ValueError("who accepts proposes no other time")
        return self

    def proposed(self) -> tuple[str, str] | None:
        return (self.start, self.end) if self.start and self.end else None


class AnswerInvitation(CalendarAction[AnswerInvitationArguments]):
    name = "answer_invitation"
    operation = "answer_event"
    resource_type = "event"
    title = "Answer an invitation"
    description = (
        "Accept, decline or answer with “maybe” an invitation of somebody else, and propose "
        "another time unless it is accepted. Who invites must be listed."
    )
    needs = frozenset()
    takes = ("recipient", "recipient_domain")
    object_kind = "event"
    object_field = "event_id"
    arguments = AnswerInvitationArguments

    def implied(
        self, arguments: AnswerInvitationArguments, facts: Facts
    ) -> tuple[Target, ...] | None:
        organiser = _organiser(facts)
        return None if organiser is None else audience("event.created_by", organiser)

    def unfit(self, arguments: AnswerInvitationArguments, facts: Facts) -> tuple[str, str] | None:
        if facts.event is None or _own_answer(facts) is None:
            return "not_invited", ""
        return None

    def effects(self, arguments: AnswerInvitationArguments, facts: Facts) -> tuple[Effect, ...]:
        return reaching(_organiser(facts) or (), "%(people)s hear of the answer")

    def differences(
        self, arguments: AnswerInvitationArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        return (("answer", in_words(_own_answer(facts)), in_words(arguments.answer)),)

    def describe(self, arguments: AnswerInvitationArguments, facts: Facts) -> str:
        said: Sequence[str] = (phrase(ANSWERS[arguments.answer]),)
        if found := arguments.proposed():
            said = (*said, phrase("propose %(start)s to %(end)s", start=found[0], end=found[1]))
        return phrase(
            "%(what)s of %(who)s %(title)s",
            what=joined(said),
            who=facts.event.created_by if facts.event else "",
            title=titled(facts),
        )

    def already_so(
        self, arguments: AnswerInvitationArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        return _own_answer(facts) == arguments.answer and arguments.proposed() is None

    def perform(
        self, writer: CalendarWriter, arguments: AnswerInvitationArguments, call: Call
    ) -> dict[str, Any]:
        return writer.answer_event(
            arguments.event_id,
            arguments.answer,
            proposed=arguments.proposed(),
            revision=call.revision,
            key=call.key,
        )


def _organiser(facts: Facts) -> tuple[str, ...] | None:
    """Who invites; None where that is not known, or is the user."""
    if facts.event is None or not facts.event.created_by:
        return None
    return facts.others((facts.event.created_by,)) or None


def _own_answer(facts: Facts) -> str | None:
    """How the user has answered so far; None where they are not among those who are invited."""
    attendees = facts.event.attendees if facts.event else ()
    own = facts.own_address.casefold()
    return next((one.status or "" for one in attendees if one.email.casefold() == own), None)

"""Put a mail's labels and folders back to what they were. For undoing alone."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from guardrails.actions.base import Arguments, Call, Inverse
from guardrails.actions.kinds import MailAction
from guardrails.actions.mail.messages import subject_of
from guardrails.facts.effects import Effect, hiding
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import ObjectId, TargetId
from integrations.ports.mail import MailWriter

Labels = Annotated[tuple[TargetId, ...], Field(strict=False, max_length=200)]


class RestoreLabelsArguments(Arguments):
    email_id: ObjectId
    add: Labels = ()
    remove: Labels = ()


class RestoreLabels(MailAction[RestoreLabelsArguments]):
    name = "restore_labels"
    operation = "change_labels"
    resource_type = "email"
    title = "Put labels back"
    description = "Put a mail's labels and folders back to what they were."
    needs = frozenset({"email", "alert"})
    object_kind = "email"
    object_field = "email_id"
    only_undoes = True
    arguments = RestoreLabelsArguments

    def effects(self, arguments: RestoreLabelsArguments, facts: Facts) -> tuple[Effect, ...]:
        return hiding(facts) if arguments.remove else ()

    def describe(self, arguments: RestoreLabelsArguments, facts: Facts) -> str:
        return phrase("Put the labels back: %(title)s", title=subject_of(facts))

    def is_as_left(self, arguments: RestoreLabelsArguments, facts: Facts) -> bool:
        labels = set(facts.email.labels) if facts.email else set()
        left = labels.isdisjoint(arguments.add) and labels.issuperset(arguments.remove)
        return left or self.already_so(arguments, facts, ())

    def already_so(
        self, arguments: RestoreLabelsArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        labels = set(facts.email.labels) if facts.email else set()
        return labels.issuperset(arguments.add) and labels.isdisjoint(arguments.remove)

    def perform(
        self, writer: MailWriter, arguments: RestoreLabelsArguments, call: Call
    ) -> dict[str, Any]:
        return writer.change_labels(
            arguments.email_id, add=arguments.add, remove=arguments.remove, key=call.key
        )


def to_restore(email_id: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Inverse:
    """The inverse that puts these labels back."""
    arguments = {"email_id": email_id, "add": list(add), "remove": list(remove)}
    return Inverse(action_type=RestoreLabels.name, arguments=arguments)

"""Mark one mail as read."""

from collections.abc import Mapping, Sequence
from typing import Any

from guardrails.actions.base import (
    Action,
    Arguments,
    Call,
    Difference,
    Inverse,
    Outcome,
    subject_of,
)
from guardrails.actions.mail.restore_labels import to_restore
from guardrails.facts.effects import Effect, hiding
from guardrails.facts.facts import Facts
from guardrails.facts.text import ObjectId
from integrations.ports import Writer

UNREAD = "UNREAD"


class MarkReadArguments(Arguments):
    email_id: ObjectId


class MarkRead(Action[MarkReadArguments]):
    name = "mark_read"
    source = "gmail"
    resource_type = "email"
    title = "Mark a mail as read"
    description = "Mark one mail as read. It stays where it is."
    needs = frozenset({"email"})
    object_kind = "email"
    object_field = "email_id"
    from_mail = True
    in_patterns = True
    arguments = MarkReadArguments

    def effects(self, arguments: MarkReadArguments, facts: Facts) -> tuple[Effect, ...]:
        return hiding(facts)

    def undo(self, arguments: MarkReadArguments, facts: Facts) -> str:
        return "Mark the mail as unread."

    def differences(
        self, arguments: MarkReadArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        return (("read", "no", "yes"),)

    def inverse(
        self, arguments: MarkReadArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse:
        return to_restore(arguments.email_id, add=[UNREAD])

    def describe(self, arguments: MarkReadArguments, facts: Facts) -> str:
        return f"Mark “{subject_of(facts)}” as read"

    def already_so(
        self, arguments: MarkReadArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        return facts.email is not None and UNREAD not in facts.email.labels

    def perform(self, writer: Writer, arguments: MarkReadArguments, call: Call) -> dict[str, Any]:
        return writer.mark_read(arguments.email_id, key=call.key)

    def outcome(self, arguments: MarkReadArguments, answer: Mapping[str, Any]) -> Outcome:
        return {"email_id": arguments.email_id}, ()

"""Take one mail out of the inbox."""

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

INBOX = "INBOX"


class ArchiveArguments(Arguments):
    email_id: ObjectId


class Archive(Action[ArchiveArguments]):
    name = "archive"
    source = "gmail"
    resource_type = "email"
    title = "Archive a mail"
    description = "Take one mail out of the inbox. It stays in the mailbox and can be found."
    needs = frozenset({"email"})
    object_kind = "email"
    object_field = "email_id"
    from_mail = True
    in_patterns = True
    arguments = ArchiveArguments

    def effects(self, arguments: ArchiveArguments, facts: Facts) -> tuple[Effect, ...]:
        return hiding(facts)

    def undo(self, arguments: ArchiveArguments, facts: Facts) -> str:
        return "Put the mail back into the inbox."

    def differences(
        self, arguments: ArchiveArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        return (("in the inbox", "yes", "no"),)

    def inverse(
        self, arguments: ArchiveArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse:
        return to_restore(arguments.email_id, add=[INBOX])

    def describe(self, arguments: ArchiveArguments, facts: Facts) -> str:
        return f"Archive “{subject_of(facts)}”"

    def already_so(
        self, arguments: ArchiveArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        return facts.email is not None and INBOX not in facts.email.labels

    def perform(self, writer: Writer, arguments: ArchiveArguments, call: Call) -> dict[str, Any]:
        return writer.archive(arguments.email_id, key=call.key)

    def outcome(self, arguments: ArchiveArguments, answer: Mapping[str, Any]) -> Outcome:
        return {"email_id": arguments.email_id}, ()

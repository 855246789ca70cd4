"""Put one mail into a listed folder and out of every other."""

from collections.abc import Mapping, Sequence
from typing import Any

from guardrails.actions.base import Arguments, Call, Difference, Inverse, Outcome
from guardrails.actions.kinds import MailAction
from guardrails.actions.mail.messages import subject_of
from guardrails.actions.mail.restore_labels import to_restore
from guardrails.facts.effects import Effect, hiding
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target
from guardrails.facts.text import ObjectId, TargetId, visible
from integrations.ports.mail import MailWriter


class MoveEmailArguments(Arguments):
    email_id: ObjectId
    folder_id: TargetId


class MoveEmail(MailAction[MoveEmailArguments]):
    name = "move_email"
    operation = "move_email"
    resource_type = "email"
    title = "Move a mail"
    description = "Put one mail into one of the listed folders and out of every other."
    needs = frozenset({"email", "alert", "folders"})
    takes = ("folder",)
    needs_targets = True
    object_kind = "email"
    object_field = "email_id"
    from_mail = True
    in_patterns = True
    puts_away = True
    arguments = MoveEmailArguments

    def targets(self, arguments: MoveEmailArguments) -> tuple[Target, ...]:
        return (
            Target(
                path="folder_id",
                kind="folder",
                value=arguments.folder_id,
                catalogue="mail_folders",
            ),
        )

    def effects(self, arguments: MoveEmailArguments, facts: Facts) -> tuple[Effect, ...]:
        return hiding(facts)

    def undo(self, arguments: MoveEmailArguments, facts: Facts) -> str:
        names = [facts.mail_folders[folder] for folder in _present(facts)]
        return f"Move the mail back to {visible(', '.join(names)) or 'the archive'}."

    def differences(
        self, arguments: MoveEmailArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        before = ", ".join(facts.mail_folders[folder] for folder in _present(facts))
        after = facts.mail_folders.get(arguments.folder_id, arguments.folder_id)
        return (("folder", before or phrase("archive"), after),)

    def inverse(
        self, arguments: MoveEmailArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse:
        before = _present(facts)
        return to_restore(
            arguments.email_id,
            add=[folder for folder in before if folder != arguments.folder_id],
            remove=[] if arguments.folder_id in before else [arguments.folder_id],
        )

    def describe(self, arguments: MoveEmailArguments, facts: Facts) -> str:
        name = facts.mail_folders.get(arguments.folder_id, arguments.folder_id)
        return phrase("Move to %(where)s: %(title)s", where=visible(name), title=subject_of(facts))

    def already_so(
        self, arguments: MoveEmailArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        return _present(facts) == [arguments.folder_id]

    def perform(
        self, writer: MailWriter, arguments: MoveEmailArguments, call: Call
    ) -> dict[str, Any]:
        return writer.move_email(arguments.email_id, folder_id=arguments.folder_id, key=call.key)

    def outcome(self, arguments: MoveEmailArguments, answer: Mapping[str, Any]) -> Outcome:
        return {"email_id": arguments.email_id, "folder_id": arguments.folder_id}, ()


def _present(facts: Facts) -> list[str]:
    """The folders the mail is in now."""
    labels = facts.email.labels if facts.email else ()
    return [label for label in labels if label in facts.mail_folders]

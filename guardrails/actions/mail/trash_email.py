"""Put one mail into the trash, from where it can be taken back until the provider empties it."""

from collections.abc import Sequence
from typing import Any

from guardrails.actions.base import Call, Difference, Inverse
from guardrails.actions.kinds import MailAction
from guardrails.actions.mail.messages import subject_of
from guardrails.actions.mail.restore_labels import to_restore
from guardrails.actions.mail.taking_off import MailArguments
from guardrails.facts.effects import Effect, hiding
from guardrails.facts.facts import INBOX, TRASH, Facts
from guardrails.facts.phrases import phrase
from integrations.ports.mail import MailWriter


class TrashEmail(MailAction[MailArguments]):
    name = "trash_email"
    operation = "trash_email"
    resource_type = "email"
    title = "Put a mail into the trash"
    description = "Put one mail into the trash. A person is asked about what the user did not name."
    needs = frozenset({"email", "alert"})
    object_kind = "email"
    object_field = "email_id"
    arguments = MailArguments

    def effects(self, arguments: MailArguments, facts: Facts) -> tuple[Effect, ...]:
        gone = Effect(kind="destructive", because=phrase("the trash is emptied after a while"))
        return (gone, *hiding(facts))

    def undo(self, arguments: MailArguments, facts: Facts) -> str:
        return "Take the mail out of the trash, as long as it is there."

    def inverse(self, arguments: MailArguments, facts: Facts, removals: Sequence[str]) -> Inverse:
        before = facts.email.labels if facts.email else ()
        return to_restore(
            arguments.email_id, add=[one for one in before if one == INBOX], remove=[TRASH]
        )

    def differences(
        self, arguments: MailArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        return (("in the trash", phrase("no"), phrase("yes")),)

    def describe(self, arguments: MailArguments, facts: Facts) -> str:
        return phrase("Put into the trash: %(title)s", title=subject_of(facts))

    def already_so(self, arguments: MailArguments, facts: Facts, removals: Sequence[str]) -> bool:
        return facts.email is not None and TRASH in facts.email.labels

    def perform(self, writer: MailWriter, arguments: MailArguments, call: Call) -> dict[str, Any]:
        return writer.trash_email(arguments.email_id, key=call.key)

"""Mark one mail as read."""

from collections.abc import Sequence
from typing import Any

from guardrails.actions.base import Call, Difference
from guardrails.actions.mail.messages import subject_of
from guardrails.actions.mail.taking_off import MailArguments, TakesOff
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from integrations.ports.mail import MailWriter


class MarkRead(TakesOff):
    name = "mark_read"
    operation = "mark_read"
    title = "Mark a mail as read"
    description = "Mark one mail as read. It stays where it is."
    label = "UNREAD"
    taken_back = "Mark the mail as unread."

    def differences(
        self, arguments: MailArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        return (("read", phrase("no"), phrase("yes")),)

    def describe(self, arguments: MailArguments, facts: Facts) -> str:
        return phrase("Mark as read: %(title)s", title=subject_of(facts))

    def perform(self, writer: MailWriter, arguments: MailArguments, call: Call) -> dict[str, Any]:
        return writer.mark_read(arguments.email_id, key=call.key)

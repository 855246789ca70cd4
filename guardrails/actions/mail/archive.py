"""Take one mail out of the inbox."""

from collections.abc import Sequence
from typing import Any

from guardrails.actions.base import Call, Difference
from guardrails.actions.mail.messages import subject_of
from guardrails.actions.mail.taking_off import MailArguments, TakesOff
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from integrations.ports.mail import MailWriter


class Archive(TakesOff):
    name = "archive"
    operation = "archive"
    title = "Archive a mail"
    description = "Take one mail out of the inbox. It stays in the mailbox and can be found."
    label = "INBOX"
    taken_back = "Put the mail back into the inbox."

    def differences(
        self, arguments: MailArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        return (("in the inbox", phrase("yes"), phrase("no")),)

    def describe(self, arguments: MailArguments, facts: Facts) -> str:
        return phrase("Archive: %(title)s", title=subject_of(facts))

    def perform(self, writer: MailWriter, arguments: MailArguments, call: Call) -> dict[str, Any]:
        return writer.archive(arguments.email_id, key=call.key)

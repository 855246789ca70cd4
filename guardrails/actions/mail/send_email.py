"""Send a mail in the user's name."""

from typing import Any

from guardrails.actions.base import Call
from guardrails.actions.mail.sending import Sends, WithFiles
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import Body, Line, ObjectId, quote
from integrations.contracts.outgoing import OutgoingMail
from integrations.ports.mail import MailWriter


class SendEmailArguments(WithFiles):
    subject: Line
    body: Body
    reply_to_id: ObjectId | None = None


class SendEmail(Sends[SendEmailArguments]):
    name = "send_email"
    operation = "send_email"
    title = "Send a mail"
    description = (
        "Send a mail in the user's name, new or as a reply. Every receiver must be listed; "
        "a blind copy only to an address that is listed itself. attachments are ids of documents "
        "that the user owns and named."
    )
    object_field = "reply_to_id"
    from_mail = True
    arguments = SendEmailArguments

    def effects(self, arguments: SendEmailArguments, facts: Facts) -> tuple[Effect, ...]:
        sent = phrase("a mail is sent%(files)s", files=arguments.with_files(facts))
        return (Effect(kind="egress", because=sent),)

    def describe(self, arguments: SendEmailArguments, facts: Facts) -> str:
        files = arguments.with_files(facts)
        return phrase(
            "Send to %(people)s: %(title)s%(files)s",
            people=arguments.in_words(),
            title=quote(arguments.subject),
            files=files,
        )

    def perform(
        self, writer: MailWriter, arguments: SendEmailArguments, call: Call
    ) -> dict[str, Any]:
        return writer.send_email(OutgoingMail(**dict(arguments)), key=call.key)

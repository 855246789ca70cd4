"""Send a mail on, with its text and attachments."""

from typing import Any

from guardrails.actions.base import Call
from guardrails.actions.mail.messages import exposed, subject_of
from guardrails.actions.mail.sending import Sends, WithFiles
from guardrails.facts.effects import Effect
from guardrails.facts.exposure import Exposure, Reader
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import Body, ObjectId
from integrations.contracts.outgoing import OutgoingMail
from integrations.ports.mail import MailWriter


class ForwardEmailArguments(WithFiles):
    email_id: ObjectId
    body: Body = ""


class ForwardEmail(Sends[ForwardEmailArguments]):
    name = "forward_email"
    operation = "forward_email"
    title = "Forward a mail"
    description = (
        "Send one mail on, whole, with its attachments. Every receiver must be listed; a blind "
        "copy only to an address that is listed itself. attachments are ids of documents that the "
        "user owns and named."
    )
    object_field = "email_id"
    exposes_object = True
    arguments = ForwardEmailArguments

    def effects(self, arguments: ForwardEmailArguments, facts: Facts) -> tuple[Effect, ...]:
        attached = len(facts.email.attachments) if facts.email else 0
        return (
            Effect(
                kind="egress",
                because=phrase(
                    "the whole mail is sent on, with %(number)s attachments", number=attached
                ),
            ),
        )

    def exposes(self, arguments: ForwardEmailArguments, facts: Facts) -> tuple[Exposure, ...]:
        coming = [Reader(one, "receiver") for one in arguments.everybody]
        return exposed(facts, coming) + super().exposes(arguments, facts)

    def describe(self, arguments: ForwardEmailArguments, facts: Facts) -> str:
        files = arguments.with_files(facts)
        return phrase(
            "Forward to %(people)s: %(title)s%(files)s",
            people=arguments.in_words(),
            title=subject_of(facts),
            files=files,
        )

    def perform(
        self, writer: MailWriter, arguments: ForwardEmailArguments, call: Call
    ) -> dict[str, Any]:
        mail = OutgoingMail(
            to=arguments.to,
            cc=arguments.cc,
            bcc=arguments.bcc,
            body=arguments.body,
            attachments=arguments.attachments,
        )
        return writer.forward_email(arguments.email_id, mail, key=call.key)

"""Send a mail in the user's name."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from guardrails.actions.base import Action, Arguments, Call, Outcome, artifact
from guardrails.actions.mail.messages import named, receivers
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Address, Addresses, Target
from guardrails.facts.text import Body, Line, ObjectId
from integrations.contracts import OutgoingMail
from integrations.ports import Writer


class SendEmailArguments(Arguments):
    to: Annotated[tuple[Address, ...], Field(strict=False, min_length=1, max_length=50)]
    cc: Addresses = ()
    bcc: Addresses = ()
    subject: Line
    body: Body
    reply_to_id: ObjectId | None = None


class SendEmail(Action[SendEmailArguments]):
    name = "send_email"
    source = "gmail"
    resource_type = "email"
    title = "Send a mail"
    description = (
        "Send a mail in the user's name, new or as a reply. Every receiver must be listed; "
        "a blind copy only to an address that is listed itself."
    )
    needs = frozenset({"email", "thread"})
    takes = ("recipient", "recipient_domain")
    needs_option = True
    can_be_drafted = True
    sends_mail = True
    object_kind = "email"
    object_field = "reply_to_id"
    from_mail = True
    arguments = SendEmailArguments

    def targets(self, arguments: SendEmailArguments) -> tuple[Target, ...]:
        return (
            receivers("to", arguments.to)
            + receivers("cc", arguments.cc)
            + receivers("bcc", arguments.bcc)
        )

    def effects(self, arguments: SendEmailArguments, facts: Facts) -> tuple[Effect, ...]:
        return (Effect(kind="egress", because="a mail is sent"),)

    def describe(self, arguments: SendEmailArguments, facts: Facts) -> str:
        hidden = f", blind copy to {named(arguments.bcc)}" if arguments.bcc else ""
        return f"Send “{arguments.subject}” to {named(arguments.to + arguments.cc)}{hidden}"

    def perform(self, writer: Writer, arguments: SendEmailArguments, call: Call) -> dict[str, Any]:
        mail = OutgoingMail(
            to=arguments.to,
            cc=arguments.cc,
            bcc=arguments.bcc,
            subject=arguments.subject,
            body=arguments.body,
            reply_to_id=arguments.reply_to_id,
        )
        return writer.send_email(mail, key=call.key)

    def outcome(self, arguments: SendEmailArguments, answer: Mapping[str, Any]) -> Outcome:
        names = ("message_id", "thread_id")
        result = {name: str(answer[name]) for name in names if answer.get(name)}
        return result, artifact("message", self.source, answer)

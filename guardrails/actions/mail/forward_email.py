"""Send a mail on, with its text and attachments."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from guardrails.actions.base import (
    Action,
    Arguments,
    Call,
    Outcome,
    artifact,
    subject_of,
)
from guardrails.actions.mail.messages import named, receivers
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Address, Addresses, Target
from guardrails.facts.text import Body, ObjectId
from integrations.contracts import OutgoingMail
from integrations.ports import Writer


class ForwardEmailArguments(Arguments):
    email_id: ObjectId
    to: Annotated[tuple[Address, ...], Field(strict=False, min_length=1, max_length=50)]
    cc: Addresses = ()
    bcc: Addresses = ()
    body: Body = ""


class ForwardEmail(Action[ForwardEmailArguments]):
    name = "forward_email"
    source = "gmail"
    resource_type = "email"
    title = "Forward a mail"
    description = (
        "Send one mail on, whole, with its attachments. Every receiver must be listed; a blind "
        "copy only to an address that is listed itself."
    )
    needs = frozenset({"email", "thread"})
    takes = ("recipient", "recipient_domain")
    needs_option = True
    can_be_drafted = True
    sends_mail = True
    object_kind = "email"
    object_field = "email_id"
    exposes_object = True
    arguments = ForwardEmailArguments

    def targets(self, arguments: ForwardEmailArguments) -> tuple[Target, ...]:
        return (
            receivers("to", arguments.to)
            + receivers("cc", arguments.cc)
            + receivers("bcc", arguments.bcc)
        )

    def effects(self, arguments: ForwardEmailArguments, facts: Facts) -> tuple[Effect, ...]:
        attached = len(facts.email.attachments) if facts.email else 0
        return (
            Effect(
                kind="egress", because=f"the whole mail is sent on, with {attached} attachments"
            ),
        )

    def describe(self, arguments: ForwardEmailArguments, facts: Facts) -> str:
        hidden = f", blind copy to {named(arguments.bcc)}" if arguments.bcc else ""
        return f"Forward “{subject_of(facts)}” to {named(arguments.to + arguments.cc)}{hidden}"

    def perform(
        self, writer: Writer, arguments: ForwardEmailArguments, call: Call
    ) -> dict[str, Any]:
        mail = OutgoingMail(
            to=arguments.to, cc=arguments.cc, bcc=arguments.bcc, body=arguments.body
        )
        return writer.forward_email(arguments.email_id, mail, key=call.key)

    def outcome(self, arguments: ForwardEmailArguments, answer: Mapping[str, Any]) -> Outcome:
        names = ("message_id", "thread_id")
        result = {name: str(answer[name]) for name in names if answer.get(name)}
        return result, artifact("message", self.source, answer)

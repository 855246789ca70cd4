"""Write a mail into the user's drafts, new or as a reply. Nothing is sent."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from guardrails.actions.base import Arguments, Call, Inverse, Outcome, artifact
from guardrails.actions.kinds import MailAction
from guardrails.actions.mail.messages import named, receivers
from guardrails.facts.effects import Effect, reaching
from guardrails.facts.exposure import Unasked
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Address, Addresses, Target, audience
from guardrails.facts.text import Body, Line, ObjectId, quote
from integrations.contracts.outgoing import OutgoingMail
from integrations.ports.mail import MailWriter

# What the person reads who is about to send it.
MARK = "Nobody was asked about:"
LEFT_OUT = "Left out of the receivers, because nobody was asked:"


class DraftArguments(Arguments):
    reply_to_id: ObjectId | None = None
    to: Annotated[tuple[Address, ...], Field(strict=False, min_length=1, max_length=50)]
    cc: Addresses = ()
    subject: Line
    body: Body


class Draft(MailAction[DraftArguments]):
    name = "draft"
    operation = "create_draft"
    resource_type = "email"
    title = "Draft a mail"
    description = (
        "Write a mail into the user's drafts, new or as a reply; nothing is sent. Receivers must "
        "take part in the thread of the mail that is answered, or be listed."
    )
    needs = frozenset({"email", "thread", "mailbox"})
    takes = ("recipient", "recipient_domain")
    object_kind = "email"
    object_field = "reply_to_id"
    from_mail = True
    is_draft = True
    formerly_needed = ("reply_to_id",)
    arguments = DraftArguments

    def targets(self, arguments: DraftArguments) -> tuple[Target, ...]:
        return receivers("to", arguments.to) + receivers("cc", arguments.cc)

    def implied(self, arguments: DraftArguments, facts: Facts) -> tuple[Target, ...] | None:
        return None if facts.mailbox is None else audience("mailbox", facts.mailbox_members)

    def effects(self, arguments: DraftArguments, facts: Facts) -> tuple[Effect, ...]:
        return reaching(facts.mailbox_members, "%(people)s also read this mailbox's drafts")

    def undo(self, arguments: DraftArguments, facts: Facts) -> str:
        return "Delete the draft."

    def inverse(self, arguments: DraftArguments, facts: Facts, removals: Sequence[str]) -> Inverse:
        return Inverse(
            action_type="delete_draft",
            arguments={},
            from_result={"draft_id": "draft_id"},
        )

    def describe(self, arguments: DraftArguments, facts: Facts) -> str:
        people, title = named(arguments.to + arguments.cc), quote(arguments.subject)
        if arguments.reply_to_id is None:
            return phrase("Draft a mail to %(people)s: %(title)s", people=people, title=title)
        return phrase("Draft a reply to %(people)s: %(title)s", people=people, title=title)

    def outgoing(self, arguments: DraftArguments, unasked: Unasked | None) -> OutgoingMail:
        """What is written, with what it says of those about whom nobody was asked."""
        unasked = unasked or Unasked()
        marked, left_out = ", ".join(unasked.marked), ", ".join(unasked.left_out)
        note = f"[{LEFT_OUT} {left_out}]\n\n" if left_out else ""
        return OutgoingMail(
            to=tuple(one for one in arguments.to if one not in unasked.left_out),
            cc=tuple(one for one in arguments.cc if one not in unasked.left_out),
            subject=f"[{MARK} {marked}] {arguments.subject}" if marked else arguments.subject,
            body=note + arguments.body,
            reply_to_id=arguments.reply_to_id,
        )

    def perform(self, writer: MailWriter, arguments: DraftArguments, call: Call) -> dict[str, Any]:
        return writer.create_draft(self.outgoing(arguments, call.unasked), key=call.key)

    def outcome(self, arguments: DraftArguments, answer: Mapping[str, Any]) -> Outcome:
        result = {"draft_id": str(answer["id"])} if answer.get("id") else {}
        return result, artifact("draft", answer)

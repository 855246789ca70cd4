"""Recall a mail that its provider has and has not sent yet. For undoing alone."""

from typing import Any

from guardrails.actions.base import Arguments, Call
from guardrails.actions.kinds import MailAction
from guardrails.actions.mail.messages import subject_of
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import ObjectId
from integrations.ports.mail import MailWriter


class RecallEmailArguments(Arguments):
    email_id: ObjectId
    submission_id: ObjectId


class RecallEmail(MailAction[RecallEmailArguments]):
    name = "recall_email"
    operation = "recall_email"
    resource_type = "email"
    title = "Recall a mail"
    description = "Recall a mail that the mail server holds back. It is a draft again."
    needs = frozenset({"email"})
    object_kind = "email"
    object_field = "email_id"
    only_undoes = True
    arguments = RecallEmailArguments

    def effects(self, arguments: RecallEmailArguments, facts: Facts) -> tuple[Effect, ...]:
        return ()

    def describe(self, arguments: RecallEmailArguments, facts: Facts) -> str:
        return phrase("Recall the mail: %(title)s", title=subject_of(facts))

    def perform(
        self, writer: MailWriter, arguments: RecallEmailArguments, call: Call
    ) -> dict[str, Any]:
        return writer.recall_email(
            arguments.email_id, submission_id=arguments.submission_id, key=call.key
        )

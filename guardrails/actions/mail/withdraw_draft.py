"""Take back a draft that Remit wrote and nobody has touched. For Remit itself alone."""

from typing import Annotated, Any

from pydantic import Field

from guardrails.actions.base import Arguments, Call
from guardrails.actions.kinds import MailAction
from guardrails.actions.mail.messages import subject_of
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import ObjectId
from integrations.ports.mail import MailWriter


class WithdrawDraftArguments(Arguments):
    draft_id: ObjectId
    # Of what Remit wrote (guardrails.facts.draft_text).
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class WithdrawDraft(MailAction[WithdrawDraftArguments]):
    name = "withdraw_draft"
    operation = "delete_draft"
    resource_type = "draft"
    title = "Withdraw a draft"
    description = "Take back a draft that Remit wrote, if nobody has changed it."
    needs = frozenset()
    object_kind = "draft"
    object_field = "draft_id"
    only_undoes = True
    withdraws = True
    arguments = WithdrawDraftArguments

    def effects(self, arguments: WithdrawDraftArguments, facts: Facts) -> tuple[Effect, ...]:
        gone = phrase("a draft that nobody has changed is deleted")
        return (Effect(kind="destructive", because=gone),)

    def describe(self, arguments: WithdrawDraftArguments, facts: Facts) -> str:
        return phrase("Withdraw the draft: %(title)s", title=subject_of(facts))

    def is_as_left(self, arguments: WithdrawDraftArguments, facts: Facts) -> bool:
        return facts.draft_digest == arguments.digest

    def perform(
        self, writer: MailWriter, arguments: WithdrawDraftArguments, call: Call
    ) -> dict[str, Any]:
        # The revision that was just compared: what changes from here on is refused by the provider.
        return writer.delete_draft(arguments.draft_id, revision=call.revision, key=call.key)

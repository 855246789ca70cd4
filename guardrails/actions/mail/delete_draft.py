"""Delete one draft."""

from collections.abc import Sequence
from typing import Any

from guardrails.actions.base import Arguments, Call, Difference
from guardrails.actions.kinds import MailAction
from guardrails.actions.mail.messages import subject_of
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import ObjectId
from integrations.ports.mail import MailWriter


class DeleteDraftArguments(Arguments):
    draft_id: ObjectId


class DeleteDraft(MailAction[DeleteDraftArguments]):
    name = "delete_draft"
    operation = "delete_draft"
    resource_type = "draft"
    title = "Delete a draft"
    description = "Delete one draft that was not sent. A person is always asked."
    needs = frozenset()
    object_kind = "draft"
    object_field = "draft_id"
    arguments = DeleteDraftArguments

    def effects(self, arguments: DeleteDraftArguments, facts: Facts) -> tuple[Effect, ...]:
        gone = phrase("the draft is deleted, no matter who wrote it")
        return (Effect(kind="destructive", because=gone),)

    def differences(
        self, arguments: DeleteDraftArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        if facts.draft is None:
            return ()
        return (("draft", f"{facts.draft.subject}\n{facts.draft.body}", phrase("deleted")),)

    def describe(self, arguments: DeleteDraftArguments, facts: Facts) -> str:
        return phrase("Delete the draft: %(title)s", title=subject_of(facts))

    def perform(
        self, writer: MailWriter, arguments: DeleteDraftArguments, call: Call
    ) -> dict[str, Any]:
        return writer.delete_draft(arguments.draft_id, revision=call.revision, key=call.key)

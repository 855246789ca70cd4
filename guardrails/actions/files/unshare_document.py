"""Take one address's own access to a document away. For undoing alone."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from guardrails.actions.base import Arguments, Call, Outcome
from guardrails.actions.files.documents import titled
from guardrails.actions.kinds import FilesAction
from guardrails.facts.classes import Is
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import ObjectId
from integrations.ports.files import FilesWriter


class UnshareDocumentArguments(Arguments):
    document_id: ObjectId
    email: Annotated[str, Is("target")]


class UnshareDocument(FilesAction[UnshareDocumentArguments]):
    name = "unshare_document"
    operation = "unshare_document"
    resource_type = "document"
    title = "Stop sharing a document"
    description = "Take one address's own access to a document away."
    needs = frozenset({"folders"})
    object_kind = "document"
    object_field = "document_id"
    only_undoes = True
    arguments = UnshareDocumentArguments

    def effects(self, arguments: UnshareDocumentArguments, facts: Facts) -> tuple[Effect, ...]:
        return (
            Effect(
                kind="egress",
                because=phrase("%(who)s no longer sees the document", who=arguments.email),
            ),
        )

    def describe(self, arguments: UnshareDocumentArguments, facts: Facts) -> str:
        return phrase(
            "Stop sharing with %(who)s: %(title)s", who=arguments.email, title=titled(facts)
        )

    def already_so(
        self, arguments: UnshareDocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        return facts.document is not None and arguments.email not in facts.document.shared_with

    def perform(
        self, writer: FilesWriter, arguments: UnshareDocumentArguments, call: Call
    ) -> dict[str, Any]:
        return writer.unshare_document(
            arguments.document_id, email=arguments.email, revision=call.revision, key=call.key
        )

    def outcome(self, arguments: UnshareDocumentArguments, answer: Mapping[str, Any]) -> Outcome:
        return {"document_id": arguments.document_id, "email": arguments.email}, ()

"""Add text at the end of one document."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from guardrails.actions.base import NOTHING, Arguments, Call, Difference
from guardrails.actions.files.documents import added, readers, titled
from guardrails.actions.kinds import FilesAction
from guardrails.facts.effects import Effect, reaching
from guardrails.facts.exposure import Exposure
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target
from guardrails.facts.text import Body, ObjectId
from integrations.ports.files import FilesWriter

END_SHOWN = 300


class AppendDocumentArguments(Arguments):
    document_id: ObjectId
    content: Annotated[Body, Field(min_length=1)]


class AppendDocument(FilesAction[AppendDocumentArguments]):
    name = "append_document"
    operation = "append_document"
    resource_type = "document"
    title = "Add to a document"
    description = (
        "Add text at the end of one document. Everybody else who reads it, by share, folder or as "
        "its owner, must be listed."
    )
    needs = frozenset({"folders"})
    takes = ("recipient", "recipient_domain")
    object_kind = "document"
    object_field = "document_id"
    arguments = AppendDocumentArguments

    def implied(
        self, arguments: AppendDocumentArguments, facts: Facts
    ) -> tuple[Target, ...] | None:
        return readers("document.readers", facts.document_readers)

    def effects(self, arguments: AppendDocumentArguments, facts: Facts) -> tuple[Effect, ...]:
        return reaching(facts.document_readers or (), "%(people)s read this document")

    def exposes(self, arguments: AppendDocumentArguments, facts: Facts) -> tuple[Exposure, ...]:
        return added(facts, arguments.content)

    def undo(self, arguments: AppendDocumentArguments, facts: Facts) -> str:
        return "Take the added text out of the end of the document."

    def differences(
        self, arguments: AppendDocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        end = facts.document.content_text[-END_SHOWN:] if facts.document else ""
        return (("end of the text", end or NOTHING, f"{end}{arguments.content}"),)

    def describe(self, arguments: AppendDocumentArguments, facts: Facts) -> str:
        return phrase(
            "Add %(number)s characters to a document: %(title)s",
            number=len(arguments.content),
            title=titled(facts),
        )

    def perform(
        self, writer: FilesWriter, arguments: AppendDocumentArguments, call: Call
    ) -> dict[str, Any]:
        return writer.append_document(
            arguments.document_id,
            content=arguments.content,
            revision=call.revision,
            key=call.key,
        )

"""Create one document in a listed folder."""

from collections.abc import Mapping
from typing import Any

from guardrails.actions.base import Arguments, Call, Outcome, artifact
from guardrails.actions.files.documents import folder, folder_name, readers
from guardrails.actions.kinds import FilesAction
from guardrails.facts.effects import Effect, reaching
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target
from guardrails.facts.text import Body, Line, TargetId, quote
from integrations.ports.files import FilesWriter


class CreateDocumentArguments(Arguments):
    name: Line
    folder_id: TargetId
    content: Body = ""


class CreateDocument(FilesAction[CreateDocumentArguments]):
    name = "create_document"
    operation = "create_document"
    resource_type = "document"
    title = "Create a document"
    description = (
        "Create one document in one of the listed folders. Everybody else who reads that folder, "
        "or one above it, must be listed too."
    )
    needs = frozenset({"folders"})
    takes = ("folder", "recipient", "recipient_domain")
    needs_targets = True
    arguments = CreateDocumentArguments

    def targets(self, arguments: CreateDocumentArguments) -> tuple[Target, ...]:
        return folder(arguments.folder_id)

    def implied(
        self, arguments: CreateDocumentArguments, facts: Facts
    ) -> tuple[Target, ...] | None:
        return readers("folder.readers", facts.folder_readers(arguments.folder_id))

    def effects(self, arguments: CreateDocumentArguments, facts: Facts) -> tuple[Effect, ...]:
        return reaching(
            facts.folder_readers(arguments.folder_id) or (), "%(people)s read this folder"
        )

    def undo(self, arguments: CreateDocumentArguments, facts: Facts) -> str:
        return "Delete the document."

    def describe(self, arguments: CreateDocumentArguments, facts: Facts) -> str:
        where = folder_name(facts, arguments.folder_id)
        return phrase(
            "Create a document in %(where)s: %(title)s", where=where, title=quote(arguments.name)
        )

    def perform(
        self, writer: FilesWriter, arguments: CreateDocumentArguments, call: Call
    ) -> dict[str, Any]:
        return writer.create_document(
            name=arguments.name,
            content=arguments.content,
            folder_id=arguments.folder_id,
            key=call.key,
        )

    def outcome(self, arguments: CreateDocumentArguments, answer: Mapping[str, Any]) -> Outcome:
        names = {"document_id": "id", "url": "url"}
        result = {name: str(answer[key]) for name, key in names.items() if answer.get(key)}
        return result, artifact("document", answer)

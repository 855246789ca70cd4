"""Take a document out of the trash. For undoing alone."""

from collections.abc import Sequence
from typing import Any

from guardrails.actions.base import Call
from guardrails.actions.files.documents import titled
from guardrails.actions.files.trash_document import DocumentArguments
from guardrails.actions.kinds import FilesAction
from guardrails.facts.effects import Effect, reaching
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from integrations.ports.files import FilesWriter


class RestoreDocument(FilesAction[DocumentArguments]):
    name = "restore_document"
    operation = "restore_document"
    resource_type = "document"
    title = "Take a document out of the trash"
    description = "Take one document out of the trash."
    needs = frozenset({"folders"})
    object_kind = "document"
    object_field = "document_id"
    only_undoes = True
    arguments = DocumentArguments

    def effects(self, arguments: DocumentArguments, facts: Facts) -> tuple[Effect, ...]:
        return reaching(facts.document_readers or (), "%(people)s read the document again")

    def describe(self, arguments: DocumentArguments, facts: Facts) -> str:
        return phrase("Take out of the trash: %(title)s", title=titled(facts))

    def already_so(
        self, arguments: DocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        return facts.document is not None and not facts.document.trashed

    def perform(
        self, writer: FilesWriter, arguments: DocumentArguments, call: Call
    ) -> dict[str, Any]:
        return writer.restore_document(arguments.document_id, revision=call.revision, key=call.key)

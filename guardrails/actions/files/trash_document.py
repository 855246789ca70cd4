"""Put one document of the user's own into the trash, from where it can be taken back until the
provider empties it."""

from collections.abc import Sequence
from typing import Any

from guardrails.actions.base import NOTHING, Arguments, Call, Difference, Inverse, in_words
from guardrails.actions.files.documents import titled
from guardrails.actions.kinds import FilesAction
from guardrails.facts.effects import Effect
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.text import ObjectId, visible
from integrations.ports.files import FilesWriter


class DocumentArguments(Arguments):
    document_id: ObjectId


class TrashDocument(FilesAction[DocumentArguments]):
    name = "trash_document"
    operation = "trash_document"
    resource_type = "document"
    title = "Put a document into the trash"
    description = (
        "Put one document that the user owns into the trash. A person is asked about what "
        "the user did not name."
    )
    needs = frozenset({"folders"})
    object_kind = "document"
    object_field = "document_id"
    arguments = DocumentArguments

    def unfit(self, arguments: DocumentArguments, facts: Facts) -> tuple[str, str] | None:
        return None if facts.is_own else ("not_own", titled(facts))

    def effects(self, arguments: DocumentArguments, facts: Facts) -> tuple[Effect, ...]:
        readers = facts.document_readers
        gone = phrase("the trash is emptied after a while")
        if readers != ():
            whom = visible(", ".join(readers)) if readers else phrase("nobody knows who")
            gone = phrase("%(gone)s, and others no longer read it (%(whom)s)", gone=gone, whom=whom)
        return (Effect(kind="destructive", because=gone),)

    def undo(self, arguments: DocumentArguments, facts: Facts) -> str:
        return "Take the document out of the trash, as long as it is there."

    def inverse(
        self, arguments: DocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse:
        return Inverse(
            action_type="restore_document", arguments={"document_id": arguments.document_id}
        )

    def differences(
        self, arguments: DocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        readers = in_words(facts.document_readers or ())
        return (
            ("in the trash", phrase("no"), phrase("yes")),
            ("readers", readers, NOTHING),
        )

    def describe(self, arguments: DocumentArguments, facts: Facts) -> str:
        return phrase("Put into the trash: %(title)s", title=titled(facts))

    def already_so(
        self, arguments: DocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        return facts.document is not None and facts.document.trashed

    def perform(
        self, writer: FilesWriter, arguments: DocumentArguments, call: Call
    ) -> dict[str, Any]:
        return writer.trash_document(arguments.document_id, revision=call.revision, key=call.key)

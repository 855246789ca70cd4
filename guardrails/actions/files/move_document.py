"""Move one document into a listed folder, whose readers may read it from then on."""

from collections.abc import Mapping, Sequence
from typing import Any

from guardrails.actions.base import Arguments, Call, Difference, Inverse, Outcome, in_words
from guardrails.actions.files.documents import exposed, folder, folder_name, readers, titled
from guardrails.actions.kinds import FilesAction
from guardrails.facts.effects import Effect, reaching
from guardrails.facts.exposure import Exposure, Reader
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target
from guardrails.facts.text import ObjectId, TargetId
from integrations.ports.files import FilesWriter


class MoveDocumentArguments(Arguments):
    document_id: ObjectId
    folder_id: TargetId


class MoveDocument(FilesAction[MoveDocumentArguments]):
    name = "move_document"
    operation = "move_document"
    resource_type = "document"
    title = "Move a document"
    description = (
        "Move one document into one of the listed folders. Who may read it only there, and "
        "its owner, must be listed too."
    )
    needs = frozenset({"folders"})
    takes = ("folder", "recipient", "recipient_domain")
    needs_targets = True
    object_kind = "document"
    object_field = "document_id"
    exposes_object = True
    from_mail = True
    arguments = MoveDocumentArguments

    def targets(self, arguments: MoveDocumentArguments) -> tuple[Target, ...]:
        return folder(arguments.folder_id)

    def implied(self, arguments: MoveDocumentArguments, facts: Facts) -> tuple[Target, ...] | None:
        return readers("folder.readers", _concerned(arguments, facts))

    def effects(self, arguments: MoveDocumentArguments, facts: Facts) -> tuple[Effect, ...]:
        return reaching(
            _concerned(arguments, facts) or (), "%(people)s own the document or read the folder"
        )

    def exposes(self, arguments: MoveDocumentArguments, facts: Facts) -> tuple[Exposure, ...]:
        known = dict(facts.document_roles)
        coming = facts.folder_readers(arguments.folder_id) or ()
        return exposed(facts, [Reader(one, "reader") for one in coming if one not in known])

    def undo(self, arguments: MoveDocumentArguments, facts: Facts) -> str:
        present = facts.document.folder_id if facts.document else None
        return f"Move the document back to {folder_name(facts, present)}."

    def differences(
        self, arguments: MoveDocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        present = facts.document.folder_id if facts.document else None
        readers_then = set(facts.document_readers or ()) | set(
            facts.folder_readers(arguments.folder_id) or ()
        )
        return (
            ("folder", folder_name(facts, present), folder_name(facts, arguments.folder_id)),
            ("readers", in_words(facts.document_readers), in_words(sorted(readers_then))),
        )

    def inverse(
        self, arguments: MoveDocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse | None:
        before = facts.document.folder_id if facts.document else None
        if before is None:
            return None  # nothing moves back to the top
        return Inverse(
            action_type=self.name,
            arguments={"document_id": arguments.document_id, "folder_id": before},
        )

    def describe(self, arguments: MoveDocumentArguments, facts: Facts) -> str:
        where = folder_name(facts, arguments.folder_id)
        return phrase("Move to %(where)s: %(title)s", where=where, title=titled(facts))

    def already_so(
        self, arguments: MoveDocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        return facts.document is not None and facts.document.folder_id == arguments.folder_id

    def perform(
        self, writer: FilesWriter, arguments: MoveDocumentArguments, call: Call
    ) -> dict[str, Any]:
        return writer.move_document(
            arguments.document_id,
            folder_id=arguments.folder_id,
            revision=call.revision,
            key=call.key,
        )

    def outcome(self, arguments: MoveDocumentArguments, answer: Mapping[str, Any]) -> Outcome:
        return {"document_id": arguments.document_id, "folder_id": arguments.folder_id}, ()


def _concerned(arguments: MoveDocumentArguments, facts: Facts) -> tuple[str, ...] | None:
    """The owner, if that is somebody else, and who reads the document by the new folder alone.
    None when that is not known."""
    present, coming = facts.document_readers, facts.folder_readers(arguments.folder_id)
    if facts.document is None or present is None or coming is None:
        return None
    new = set(coming) - set(present)
    return facts.others((facts.document.owner, *new))

"""Let one listed address read, comment on or write one document."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from guardrails.actions.base import Arguments, Call, Difference, Inverse, Outcome, in_words
from guardrails.actions.files.documents import exposed, titled
from guardrails.actions.kinds import FilesAction
from guardrails.facts.classes import Is
from guardrails.facts.effects import Effect
from guardrails.facts.exposure import Exposure, Reader
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Address, Target, audience
from guardrails.facts.text import ObjectId
from integrations.ports.files import FilesWriter


class ShareDocumentArguments(Arguments):
    document_id: ObjectId
    email: Address
    role: Annotated[Literal["reader", "commenter", "writer"], Is("choice")] = "reader"


class ShareDocument(FilesAction[ShareDocumentArguments]):
    name = "share_document"
    operation = "share_document"
    resource_type = "document"
    title = "Share a document"
    description = (
        "Let one listed address read one document, or comment on or write it where the user says "
        "so. If somebody else owns it, the owner must be listed too."
    )
    needs = frozenset({"folders"})
    takes = ("recipient", "recipient_domain")
    needs_targets = True
    object_kind = "document"
    object_field = "document_id"
    exposes_object = True
    role_field = "role"
    arguments = ShareDocumentArguments

    def targets(self, arguments: ShareDocumentArguments) -> tuple[Target, ...]:
        return (Target(path="email", kind="recipient", value=arguments.email, role="to"),)

    def implied(self, arguments: ShareDocumentArguments, facts: Facts) -> tuple[Target, ...] | None:
        if facts.document is None or not facts.document.owner:
            return None
        return audience("document.owner", facts.others([facts.document.owner]))

    def effects(self, arguments: ShareDocumentArguments, facts: Facts) -> tuple[Effect, ...]:
        return (
            Effect(
                kind="egress",
                because=phrase(
                    "%(who)s becomes a %(role)s of all of the document",
                    who=arguments.email,
                    role=phrase(arguments.role),
                ),
            ),
        )

    def exposes(self, arguments: ShareDocumentArguments, facts: Facts) -> tuple[Exposure, ...]:
        return exposed(facts, [Reader(arguments.email, arguments.role)])

    def undo(self, arguments: ShareDocumentArguments, facts: Facts) -> str:
        before = _role(arguments, facts)
        if before is None:
            return f"Take the access of {arguments.email} away. What was read stays read."
        return f"Make {arguments.email} a {before} again."

    def differences(
        self, arguments: ShareDocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> tuple[Difference, ...]:
        readers = facts.document_readers or ()
        return (("readers", in_words(readers), in_words(sorted({*readers, arguments.email}))),)

    def inverse(
        self, arguments: ShareDocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> Inverse:
        given = {"document_id": arguments.document_id, "email": arguments.email}
        before = _role(arguments, facts)
        if before is None:
            return Inverse(action_type="unshare_document", arguments=given)
        return Inverse(action_type=self.name, arguments={**given, "role": before})

    def describe(self, arguments: ShareDocumentArguments, facts: Facts) -> str:
        return phrase(
            "Share with %(who)s as %(role)s: %(title)s",
            who=arguments.email,
            role=phrase(arguments.role),
            title=titled(facts),
        )

    def already_so(
        self, arguments: ShareDocumentArguments, facts: Facts, removals: Sequence[str]
    ) -> bool:
        return _role(arguments, facts) == arguments.role

    def perform(
        self, writer: FilesWriter, arguments: ShareDocumentArguments, call: Call
    ) -> dict[str, Any]:
        return writer.share_document(
            arguments.document_id,
            email=arguments.email,
            role=arguments.role,
            revision=call.revision,
            key=call.key,
        )

    def outcome(self, arguments: ShareDocumentArguments, answer: Mapping[str, Any]) -> Outcome:
        result = {"document_id": arguments.document_id, "email": arguments.email}
        return {**result, "role": arguments.role}, ()


def _role(arguments: ShareDocumentArguments, facts: Facts) -> str | None:
    """What the address may do now; None when it has no access of its own."""
    document = facts.document
    if document is None or arguments.email not in document.shared_with:
        return None
    return document.roles.get(arguments.email, "reader")

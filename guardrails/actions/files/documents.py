"""What actions on documents have in common: the folder they name, and who reads what."""

from collections.abc import Iterable, Sequence

from guardrails.facts.content import Content, of_object
from guardrails.facts.exposure import ExposedObject, Exposure, Reader, expose, with_readers
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target, audience
from guardrails.facts.text import quote, visible
from integrations.contracts import Document


def folder(folder_id: str) -> tuple[Target, ...]:
    return (Target(path="folder_id", kind="folder", value=folder_id, catalogue="drive_folders"),)


def readers(path: str, people: Sequence[str] | None) -> tuple[Target, ...] | None:
    """Who would read it, as targets; None when that is not known."""
    return None if people is None else audience(path, people)


def folder_name(facts: Facts, folder_id: str | None) -> str:
    """The folder's path for people."""
    if not folder_id:
        return phrase("the top folder")
    return visible(facts.drive_folders.get(folder_id, folder_id))


def titled(facts: Facts) -> str:
    """The document's name, quoted."""
    return quote(facts.document.name if facts.document else "")


def exposed(facts: Facts, coming: Iterable[Reader]) -> tuple[Exposure, ...]:
    """The whole document, where somebody sees it or may do more with it from then on."""
    document, content = facts.document, facts.content or Content()
    if document is None:
        return ()
    before, after = with_readers(facts.document_roles, coming)
    if after == before:
        return ()
    found = _object(document, facts)
    return expose(found, document.content_text, content, before=before, after=after)


def added(facts: Facts, text: str) -> tuple[Exposure, ...]:
    """Text that is put into a document which others read."""
    document, readers = facts.document, facts.document_roles
    if document is None or not readers:
        return ()
    content, found = of_object((text,)), _object(document, facts)
    return expose(found, text, content, before=readers, after=readers, adds=True)


def _object(document: Document, facts: Facts) -> ExposedObject:
    return ExposedObject(
        "document", document.id, document.name, document.owner, facts.object_places
    )

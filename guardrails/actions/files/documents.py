"""What actions on documents have in common: the folder they name, and who reads what."""

from collections.abc import Sequence

from guardrails.actions.base import SUBJECT_SHOWN
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Target, audience
from guardrails.facts.text import visible


def folder(folder_id: str) -> tuple[Target, ...]:
    return (Target(path="folder_id", kind="folder", value=folder_id, catalogue="drive_folders"),)


def readers(path: str, people: Sequence[str] | None) -> tuple[Target, ...] | None:
    """Who would read it, as targets; None when that is not known."""
    return None if people is None else audience(path, people)


def folder_name(facts: Facts, folder_id: str | None) -> str:
    """The folder's path for people."""
    return visible(facts.drive_folders.get(folder_id or "", folder_id or "the top folder"))


def titled(facts: Facts) -> str:
    """The document for people, cut and safe to show."""
    name = facts.document.name if facts.document else ""
    return f"“{visible(name, limit=SUBJECT_SHOWN)}”"

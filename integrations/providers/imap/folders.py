"""Which folder is what: by its special use (RFC 6154), or else by what such folders are called."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from integrations.providers.mailboxes.labels import FOLDER_PREFIX, LABELS, Role

FLAGS: dict[bytes, Role] = {
    b"\\all": "all",
    b"\\archive": "archive",
    b"\\drafts": "drafts",
    b"\\sent": "sent",
    b"\\junk": "junk",
    b"\\trash": "trash",
    b"\\flagged": "starred",
    b"\\important": "important",  # RFC 8457
}
# In the languages that Remit speaks. A server that says nothing of special use has one of these.
NAMES: dict[str, Role] = {
    **dict.fromkeys(("archive", "archives", "archiv", "archivo", "archivio"), "archive"),
    **dict.fromkeys(("drafts", "draft", "entwürfe", "brouillons", "borradores", "bozze"), "drafts"),
    **dict.fromkeys(
        (
            *("sent", "sent items", "sent messages", "sent mail", "gesendet"),
            *("gesendete elemente", "envoyés", "éléments envoyés", "enviados", "inviata"),
            "posta inviata",
        ),
        "sent",
    ),
    **dict.fromkeys(("junk", "spam", "junk e-mail", "bulk mail", "unerwünscht"), "junk"),
    **dict.fromkeys(
        (
            *("trash", "deleted", "deleted items", "deleted messages", "papierkorb"),
            *("gelöschte elemente", "corbeille", "papelera", "cestino"),
        ),
        "trash",
    ),
}


@dataclass(frozen=True)
class MailFolders:
    """The folders that can be opened, in the server's order, and those that have a role."""

    names: tuple[str, ...]
    roles: dict[str, Role]

    def named(self, role: Role) -> str | None:
        """The folder that has this role."""
        return next((name for name, its in self.roles.items() if its == role), None)

    def labels_of(self, name: str) -> tuple[str, ...]:
        """What a mail is labelled for lying in this folder. In the archive it has no label."""
        role = self.roles.get(name)
        if role is None:
            return (FOLDER_PREFIX + name,)
        return (LABELS[role],) if role in LABELS else ()

    def named_by(self, label: str) -> str | None:
        """The folder that such a label stands for; None for a label that is no folder's."""
        if label.startswith(FOLDER_PREFIX):
            name = label.removeprefix(FOLDER_PREFIX)
            return name if name in self.names else None
        return next((name for name, role in self.roles.items() if LABELS.get(role) == label), None)

    @property
    def own(self) -> tuple[str, ...]:
        """Those that the user made."""
        return tuple(name for name in self.names if name not in self.roles)


def read_folders(listed: Iterable[tuple[Iterable[bytes], Any, Any]]) -> MailFolders:
    """From the answer to LIST."""
    names: list[str] = []
    roles: dict[str, Role] = {}
    by_name: dict[Role, str] = {}
    for flags, separator, found in listed:
        name = found.decode("ascii", "replace") if isinstance(found, bytes) else str(found)
        uses = {flag.lower() for flag in flags}
        if uses & {b"\\noselect", b"\\nonexistent"}:
            continue
        names.append(name)
        role = next((FLAGS[flag] for flag in sorted(uses) if flag in FLAGS), None)
        if name.casefold() == "inbox":
            role = "inbox"
        if role and role not in roles.values():
            roles[name] = role
        parted = name.rsplit(_text(separator), 1) if separator else [name]
        if guessed := NAMES.get(parted[-1].casefold()):
            by_name.setdefault(guessed, name)
    for guessed, name in by_name.items():
        if guessed not in roles.values() and name not in roles:
            roles[name] = guessed
    return MailFolders(names=tuple(names), roles=roles)


def _text(separator: Any) -> str:
    return separator.decode("ascii", "replace") if isinstance(separator, bytes) else str(separator)

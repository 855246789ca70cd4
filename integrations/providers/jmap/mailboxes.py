"""A JMAP server's mailboxes as labels: a mail may lie in several at once (RFC 8621, 2). Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from integrations.providers.jmap.answers import EmailSaid
from integrations.providers.mailboxes.labels import (
    FOLDER_PREFIX,
    LABELS,
    STARRED,
    SYSTEM_LABELS,
    UNREAD,
    Role,
)

ROLES: frozenset[str] = frozenset({"inbox", "all", "archive", "drafts", "sent", "junk", "trash"})
# Drafts are not mail yet, and what is junk or thrown away is not to be learnt from.
NOT_READ_IN = ("drafts", "junk", "trash")
SEEN, FLAGGED, DRAFT = "$seen", "$flagged", "$draft"
DEEPEST = 20


class Box(Protocol):
    """A mailbox or folder, as its server tells it."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def parent(self) -> str | None: ...
    @property
    def role(self) -> str | None: ...


B = TypeVar("B", bound=Box)


@dataclass(frozen=True)
class Mailboxes(Generic[B]):
    said: Sequence[B]

    @cached_property
    def names(self) -> dict[str, str]:
        """The path of each, by id. Two of one path are none: nobody could say which is meant."""
        parents = {one.id: one for one in self.said}
        paths = {one.id: "/".join(reversed(list(_up(one, parents)))) for one in self.said}
        counts = Counter(paths.values())
        return {id: path for id, path in paths.items() if counts[path] == 1 and path.isprintable()}

    @cached_property
    def by_role(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for one in self.said:
            if one.role in ROLES:
                found.setdefault(str(one.role), one.id)
        return found

    @cached_property
    def roles(self) -> dict[str, str]:
        return {id: role for role, id in self.by_role.items()}

    def ids(self, roles: Iterable[str]) -> list[str]:
        return [self.by_role[role] for role in roles if role in self.by_role]

    @property
    def own(self) -> dict[str, str]:
        """Those that the user made: paths by id."""
        return {id: name for id, name in self.names.items() if id not in self.roles}

    def labels(self, email: EmailSaid) -> tuple[str, ...]:
        """Where it lies, read or not, and the user's own keywords. A keyword that is called like a
        label of Remit's is none. In the archive a mail has no label."""
        return (
            *self.places(email.mailboxes),
            *([] if SEEN in email.words else [UNREAD]),
            *([STARRED] if FLAGGED in email.words else []),
            *own_words(email.words),
        )

    def places(self, ids: Iterable[str]) -> Iterator[str]:
        for id in sorted(ids, key=lambda one: self.names.get(one, "")):
            role = self.roles.get(id)
            if role in LABELS:
                yield LABELS[role]
            elif role is None and id in self.names:
                yield FOLDER_PREFIX + self.names[id]

    def named_by(self, label: str) -> str | None:
        """The mailbox that a label stands for; None for a label that is no mailbox's."""
        if label.startswith(FOLDER_PREFIX):
            name = label.removeprefix(FOLDER_PREFIX)
            return next((id for id, its in self.own.items() if its == name), None)
        role: Role | None = next((role for role, its in LABELS.items() if its == label), None)
        return self.by_role.get(role) if role else None


def own_words(words: Iterable[str]) -> list[str]:
    """The user's own keywords among these."""
    return [
        word
        for word in sorted(words)
        if word[:1] not in ("$", "\\") and word.upper() not in SYSTEM_LABELS and word.isprintable()
    ]


def _up(one: B, parents: dict[str, B]) -> Iterator[str]:
    at: B | None = one
    for _ in range(DEEPEST):
        if at is None:
            return
        yield at.name
        at = parents.get(at.parent) if at.parent else None

"""What an action lets others see, object by object. Pure.

Receivers say whom an action reaches; an exposure says what they get to see by it: which object,
whose, how it was named, who reads it now and who would, and who wrote what is in it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from guardrails.facts.content import Content
from guardrails.facts.sensitive import Sensitive

# Who wrote what is in an object. run: the agent in this run. agent: the agent in an earlier run,
# and no person has restated it since. user, other: whose it is to write, as the provider tells.
Taint = Literal["run", "agent", "user", "other", "unknown"]
OF_AGENT: frozenset[Taint] = frozenset({"run", "agent"})
TAINTS: Mapping[Taint, str] = {
    "run": "written by the agent in this run",
    "agent": "written by the agent in an earlier run, and not looked at by a person since",
    "user": "written by the user",
    "other": "written by somebody else",
    "unknown": "nobody knows who wrote it last",
}
NAMED = frozenset({"U", "O"})  # provenance of an object that the user meant
PASSAGE = 2000  # characters of what leaves that are kept for a card


class Reader(NamedTuple):
    """Somebody who sees an object. `role` is what the provider calls it (reader, commenter,
    writer, owner), or attendee, or receiver of a mail."""

    address: str
    role: str


class Exposure(NamedTuple):
    """One object, or text put into it, and the people who get to see it by an action.

    `before` and `after` are who else sees it, without the user. `passage` is the beginning of
    what leaves, for people alone: nothing is decided on it, and the ledger does not keep it;
    `digest` is of all of it. `places` are the ids of the folder it lies in and those above it, the
    nearest first; for a mail, its labels. `named` is the provenance of the object: U, O, X …
    `adds` says that text is put into an object whose readers stay the same.
    """

    kind: str  # of the object: document, email, event …
    id: str
    title: str
    owner: str
    before: tuple[Reader, ...]
    after: tuple[Reader, ...]
    passage: str
    digest: str
    chars: int
    sensitive: tuple[Sensitive, ...] = ()
    places: tuple[str, ...] = ()
    adds: bool = False
    named: str = "X"
    taint: Taint = "unknown"
    placed: bool = False  # the agent put it where it is, and no person confirmed that

    @property
    def newcomers(self) -> tuple[Reader, ...]:
        """Who sees it, or may do more with it, by this action alone."""
        return tuple([one for one in self.after if one not in self.before])

    @property
    def is_unspoken(self) -> bool:
        """Whether nobody said that it is meant, or the agent wrote what would be seen of it."""
        return self.named not in NAMED or (self.taint in OF_AGENT and not self.adds)

    def plain(self) -> dict[str, Any]:
        """As the ledger keeps it: without the text."""
        found = self._asdict() | {
            "before": [one._asdict() for one in self.before],
            "after": [one._asdict() for one in self.after],
        }
        del found["passage"]
        return found


class Unasked(NamedTuple):
    """Receivers of a draft about whom nobody was asked: those named in its subject, and those left
    out of its receivers and named in its first line."""

    marked: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Authorship:
    """Who wrote one object, by the ledger and the provider (`guardrails.gather.authorship`).

    `wrote` is the agent's part that no person has restated; `placed` says that the agent put the
    object where it is; `last` is who else wrote it.
    """

    object_id: str
    wrote: Literal["", "run", "agent"] = ""
    placed: bool = False
    last: Literal["user", "other", "unknown"] = "unknown"

    @property
    def taint(self) -> Taint:
        return self.wrote or self.last


def with_readers(
    present: Iterable[Reader], coming: Iterable[Reader]
) -> tuple[tuple[Reader, ...], tuple[Reader, ...]]:
    """Who sees it before and after; a new role takes the place of the former one."""
    before = tuple(present)
    after = dict(before) | dict(coming)
    return before, tuple([Reader(address, role) for address, role in after.items()])


class ExposedObject(NamedTuple):
    """The object at hand as its provider has it: what holds of it for all who see it."""

    kind: str
    id: str
    title: str
    owner: str
    places: tuple[str, ...]


def expose(
    found: ExposedObject,
    text: str,
    content: Content,
    *,
    before: tuple[Reader, ...],
    after: tuple[Reader, ...],
    adds: bool = False,
) -> tuple[Exposure, ...]:
    """The one exposure of `text`, whose content was looked at, to those who see it after."""
    return (
        Exposure(
            **found._asdict(),
            before=before,
            after=after,
            passage=text[:PASSAGE],
            digest=content.digest,
            chars=content.chars,
            sensitive=content.sensitive,
            adds=adds,
        ),
    )

"""A trial of a server of files: it is signed in at, and what Remit can do there is said. Nothing is
stored, and nothing is written there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from integrations.exceptions import (
    NotFound,
    ProviderError,
    Rejected,
)
from integrations.mail.addresses import is_addr_spec
from integrations.ports.evidence import Ability
from integrations.providers.dav import trial
from integrations.providers.dav.multistatus import D, Response
from integrations.providers.trial_slots import slots
from integrations.providers.webdav import access
from integrations.providers.webdav.folders import KIND, WANTED
from integrations.providers.webdav.servers import FileServer

HOW = "The address of a folder, as the server's own pages show it for WebDAV."
REFUSED = (
    "Some providers want an app password, made in the security settings of the account there, in "
    "place of the usual one."
)
NO_FOLDER = f"There is no folder (WebDAV) at this address of {{host}}. {HOW}"


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and the names of the folders directly in the one that was named."""

    server: FileServer
    folders: tuple[str, ...]
    abilities: tuple[Ability, ...] = field(default=())


def read_url(text: str) -> str:
    """Raises Rejected."""
    url = trial.read_url(text, otherwise=f"This is no address of a server. {HOW}")
    return url if url.endswith("/") else f"{url}/"


def try_url(
    url: str, *, user_name: str, secret: str, readers: Sequence[str] | None = None
) -> Tried:
    """`readers` is who else reads the folder, as is said by who connects it; None: it is not said.
    Raises ProviderError with a sentence for people."""
    if readers is not None and not all(map(is_addr_spec, readers)):
        raise Rejected("Who else reads the folder is named by mail addresses.")
    known = None if readers is None else tuple(sorted({one.lower() for one in readers}))
    try:
        return _tried(url, user_name, secret, known)
    except ProviderError as error:
        raise trial.explained(url, error, refused=REFUSED, otherwise=NO_FOLDER) from error


def _tried(url: str, user_name: str, secret: str, readers: tuple[str, ...] | None) -> Tried:
    session = trial.session(url, user_name=user_name, secret=secret, slot=slots())
    home, found = session.find(url, (*WANTED, *access.WANTED))
    if not found.responses or f"{D}collection" not in found.responses[0].names(KIND):
        raise NotFound("this is no folder")
    home = home if home.endswith("/") else f"{home}/"
    inside = session.propfind(home, [KIND], depth=1).responses
    names = sorted(
        one.path.rstrip("/").rpartition("/")[2]
        for one in inside
        if f"{D}collection" in one.names(KIND)
        and one.path.rstrip("/") != urlsplit(home).path.rstrip("/")
    )
    return Tried(
        server=FileServer(home=home, readers=readers),
        folders=tuple(names),
        abilities=tuple(_abilities(found.responses[0], readers)),
    )


def _abilities(home: Response, readers: tuple[str, ...] | None) -> Iterator[Ability]:
    known = readers if (listed := access.readers(home)) is None else listed
    unknown = (
        ""
        if known is not None
        else "The server does not say who else reads this folder. Say so when you connect it, "
        "and it can be written to."
    )
    once = "The server takes a new file under its name once; doing it twice changes nothing."
    same = "The server changes only the version that was looked at."
    moved = (
        "A file never covers another. Not every server holds a move to the version that was "
        "looked at: Remit looks right before."
    )
    rows = (
        ("Read and search", "A", "", "Reading changes nothing there."),
        ("Create documents", "A", unknown, once),
        ("Add to documents", "A", unknown, same),
        ("Move documents", "B", unknown, moved),
        ("Put documents into the trash", "", "The server has no trash.", ""),
        ("Share documents", "", "WebDAV has no way to share.", ""),
    )
    for what, grade, missed, why in rows:
        yield Ability(what=what, grade="" if missed else grade, why=missed or why)

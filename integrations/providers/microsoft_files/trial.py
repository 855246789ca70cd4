"""Trying somebody's files at Microsoft with what a consent gave, before anything is stored. Nothing
is changed there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from integrations.credentials.oauth import Tokens
from integrations.exceptions import Rejected
from integrations.network.answers import parse
from integrations.ports.evidence import Ability
from integrations.providers.microsoft.servers import (
    CHANGE_FILES,
    GRAPH_API,
    LASTING,
    MICROSOFT,
    WHO,
    missing,
)
from integrations.providers.microsoft.trial import check_user, who_is
from integrations.providers.microsoft_files.answers import DriveSaid, ItemsSaid
from integrations.providers.microsoft_files.files import DRIVE
from integrations.providers.microsoft_files.session import FilesSession
from integrations.providers.signed_in.servers import service
from integrations.providers.signed_in.trial import explained, token_of
from integrations.providers.trial_slots import slots

SCOPES = (CHANGE_FILES, WHO, LASTING)
HOST = "graph.microsoft.com"


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and the names of the folders at the top of the drive."""

    servers: dict[str, Any]
    folders: tuple[str, ...]
    abilities: tuple[Ability, ...]


def try_account(found: Tokens, *, address: str, api: str = GRAPH_API) -> Tried:
    """Raises ProviderError with a sentence for people: also where somebody else signed in, or did
    not agree to all."""
    if missing(SCOPES, found.scopes):
        raise Rejected(
            "You did not allow Remit to read and change the files. Begin again, and agree to all "
            "of it."
        )
    session = FilesSession(api, token_of(found, MICROSOFT), slot=slots())
    wanted: dict[str, Any] = {"$select": "id,name,folder", "$top": 50}
    with explained(
        MICROSOFT,
        "Microsoft does not show these files. Does this user have a OneDrive, and does the "
        "organisation let its users agree to this?",
    ):
        who = who_is(session)
        drive = parse(DriveSaid, session.get(DRIVE, {"$select": "id,driveType,owner"}))
        top = parse(ItemsSaid, session.get(f"{DRIVE}/root/children", wanted))
    check_user(who, address)
    owner = drive.owner.user if drive.owner else None
    about = {"kind": drive.kind, "owner": (owner.id or "") if owner else ""}
    return Tried(
        servers=service(api, ends_at=found.ends_at) | about,
        folders=tuple(one.name or one.id for one in top.value if one.folder is not None),
        abilities=tuple(_abilities(is_personal=drive.kind == "personal")),
    )


def _abilities(*, is_personal: bool) -> Iterator[Ability]:
    back = "Microsoft holds it to the version that was looked at; what is gone was put there. " + (
        "Remit takes it out again."
        if is_personal
        else "At work, only the user can take it out again, on OneDrive's own page."
    )
    rows = (
        ("Read and search", "A", "Reading changes nothing there."),
        (
            "Create documents",
            "A",
            "Microsoft takes a new file under its name once; doing it twice changes nothing. New "
            "files are plain text.",
        ),
        (
            "Add to documents",
            "B",
            "Right before, Remit looks whether the file is still what was decided on; the bytes "
            "that lie there show what became of it. Only to plain text.",
        ),
        ("Move documents", "A", "Microsoft moves only the version that was looked at."),
        ("Put documents into the trash", "B", back),
        (
            "Share documents",
            "B",
            "Who is let in shows what became of it. Microsoft sends no mail about it.",
        ),
    )
    for what, grade, why in rows:
        yield Ability(what=what, grade=grade, why=why)

"""Trying somebody's files at Google Drive with what a consent gave, before anything is stored.
Nothing is changed there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from integrations.credentials.oauth import Tokens
from integrations.network.answers import parse
from integrations.ports.evidence import Ability
from integrations.providers.google.servers import CHANGE_DRIVE, DOCS_API, DRIVE_API, GOOGLE
from integrations.providers.google.trial import session_with
from integrations.providers.google_drive.answers import FOLDER, AboutSaid, FilesSaid
from integrations.providers.signed_in.servers import service
from integrations.providers.signed_in.trial import check_who, explained

SCOPES = (CHANGE_DRIVE,)
HOST = "www.googleapis.com"


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and the names of folders in the user's own drive."""

    servers: dict[str, Any]
    folders: tuple[str, ...]
    abilities: tuple[Ability, ...]


def try_account(
    found: Tokens, *, address: str, api: str = DRIVE_API, docs: str = DOCS_API
) -> Tried:
    """Raises ProviderError with a sentence for people: also where somebody else signed in, or did
    not agree to all."""
    session = session_with(found, api, scopes=SCOPES, what="read and change the files")
    wanted: dict[str, str | int | list[str]] = {
        "q": f"trashed = false and mimeType = '{FOLDER}' and 'root' in parents",
        "fields": "files(id,name)",
        "pageSize": 20,
    }
    with explained(
        GOOGLE,
        "Google does not show these files. Is the Google Drive API switched on in the project that "
        "the client belongs to, and Drive for this user?",
    ):
        who = parse(AboutSaid, session.get("/about", {"fields": "user(emailAddress)"}))
        folders = parse(FilesSaid, session.get("/files", wanted))
    check_who(who.user.address, address)
    return Tried(
        servers=service(api, ends_at=found.ends_at) | {"docs": docs},
        folders=tuple(one.name for one in folders.files),
        abilities=tuple(_abilities()),
    )


def _abilities() -> Iterator[Ability]:
    looked = "Google holds no change to a version, so Remit looks right before. What"
    rows = (
        ("Read and search", "A", "Reading changes nothing there."),
        (
            "Create documents",
            "A",
            "Google gives the file's id before, and takes each id once; doing it twice changes "
            "nothing. New files are plain text.",
        ),
        (
            "Add to documents",
            "B",
            f"{looked} it wrote carries its mark. To plain text files, and to documents of "
            "Google's own program, where Google does hold it to one.",
        ),
        ("Move documents", "B", f"{looked} it moved carries its mark."),
        ("Put documents into the trash", "B", f"{looked} it put there carries its mark."),
        (
            "Share documents",
            "B",
            "Who is let in shows what became of it. Google sends no mail about it.",
        ),
    )
    for what, grade, why in rows:
        yield Ability(what=what, grade=grade, why=why)

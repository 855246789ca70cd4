"""The files of one account at Google Drive, open to be read: documents, their text, and folders
with who else reads them. My Drive and what is shared with the user; no shared drives."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import quote

from integrations.contracts import AccountRef, Document, Folder
from integrations.exceptions import NotFound, ProviderError, TooLarge
from integrations.network.answers import parse
from integrations.providers.drives.folders import Place, path_of
from integrations.providers.drives.text import MAX_TEXT_BYTES, TEXT_TYPES
from integrations.providers.google.session import GoogleSession, session_of
from integrations.providers.google_drive.answers import (
    FOLDER,
    FileSaid,
    FilesSaid,
    Grant,
)

FIELDS = (
    "id,name,mimeType,parents,createdTime,modifiedTime,sharedWithMeTime,version,md5Checksum,size,"
    "trashed,owners(emailAddress),permissions(id,type,role,emailAddress,deleted),appProperties"
)
MAX_FOLDERS, AT_ONCE = 5_000, 200
# What Google's own programs make is read in these forms.
EXPORTED = {
    "application/vnd.google-apps.document": "text/plain",
    "application/vnd.google-apps.presentation": "text/plain",
    "application/vnd.google-apps.spreadsheet": "text/csv",
}
EVERYBODY = "everybody"


class Files:
    def __init__(self, account: AccountRef, session: GoogleSession | None = None) -> None:
        self.session = session or session_of(account)
        self.account = account

    @cached_property
    def docs(self) -> GoogleSession:
        """Where documents of Google's own program are changed."""
        return session_of(self.account, service="docs")

    def at(self, id: str) -> FileSaid:
        """A file or folder, or what lies in the trash. Raises NotFound."""
        return parse(FileSaid, self.session.get(url_of(id), {"fields": FIELDS}))

    def get(self, id: str) -> FileSaid:
        """Raises NotFound, also for a folder."""
        found = self.at(id)
        if found.is_folder:
            raise NotFound("there is no such file")
        return found

    def listed(self, query: str, *, most: int, page: str | None = None) -> FilesSaid:
        wanted: dict[str, Any] = {
            "q": f"trashed = false and {query}",
            "pageSize": most,
            "orderBy": "modifiedTime desc",
            "spaces": "drive",
            "fields": f"nextPageToken,incompleteSearch,files({FIELDS})",
        }
        more = {"pageToken": page} if page else {}
        return parse(FilesSaid, self.session.get("/files", wanted | more))

    def describe(self, said: FileSaid, *, text: str = "") -> Document:
        """Where nobody can say who else reads it, it has no owner: then all readers are unknown."""
        known = readers(said.grants, self.account.address)
        owner = said.owners[0].address if said.owners and known is not None else ""
        at = said.changed or said.created or datetime.now(UTC)
        return Document(
            id=said.id,
            revision=said.version,
            version=int(said.version) if said.version.isdecimal() and len(said.version) < 18 else 0,
            updated_at=said.changed,
            name=said.name,
            mime_type=said.mime_type,
            content_text=text,
            folder_id=said.parents[0] if said.parents else None,
            created_at=said.created or at,
            modified_at=at,
            size_bytes=said.size,
            file_id=f"{said.id} {said.md5}" if said.md5 else None,
            shared_with=known or (),
            roles={one.address: one.role for one in named(said) if one.address in (known or ())},
            owner=owner,
            trashed=said.trashed,
        )

    def text(self, said: FileSaid) -> str:
        """Empty for what is no text, or too long."""
        path = url_of(said.id)
        if kind := EXPORTED.get(said.mime_type):
            path, wanted = f"{path}/export", {"mimeType": kind}
        elif said.mime_type.startswith(TEXT_TYPES) and said.size <= MAX_TEXT_BYTES:
            wanted = {"alt": "media"}
        else:
            return ""
        try:
            raw = self.session.download(path, wanted, most_bytes=MAX_TEXT_BYTES)
            return raw.decode("utf-8-sig")
        except (TooLarge, UnicodeDecodeError):
            return ""
        except ProviderError as error:
            if error.retryable:
                raise
            return ""  # Google exports some documents to nobody

    def folders(self) -> tuple[Folder, ...]:
        """All folders by their paths. Of more than anybody looks through, those that were changed
        last: what lies in another has readers whom nobody knows."""
        root = self.at("root")
        found = {one.id: one for one in self._folders()} | {root.id: root}
        places = {
            one.id: Place(one.name, one.parents[0] if one.parents else None)
            for one in found.values()
        }
        return tuple(
            Folder(
                id=one.id,
                name=path_of(one.id, places, root=root.id),
                kind="drive",
                shared_with=readers(one.grants, self.account.address),
            )
            for one in found.values()
        )

    def _folders(self) -> Iterator[FileSaid]:
        page, count = None, 0
        while count < MAX_FOLDERS:
            said = self.listed(f"mimeType = '{FOLDER}'", most=AT_ONCE, page=page)
            yield from said.files
            count += len(said.files)
            page = said.next_page
            if page is None:
                return


def url_of(id: str) -> str:
    return f"/files/{quote(id, safe='')}"


def named(said: FileSaid) -> tuple[Grant, ...]:
    """Who is let in by an address."""
    return tuple(one for one in said.grants or () if one.address and not one.deleted)


def readers(grants: tuple[Grant, ...] | None, own: str) -> tuple[str, ...] | None:
    """Everybody else who is let in. None where nobody can say: Google does not show it to this
    user, or a whole domain is let in."""
    if grants is None:
        return None
    found = set[str]()
    for one in grants:
        if one.deleted:
            continue
        if one.type == "anyone":
            found.add(EVERYBODY)
        elif one.type in ("user", "group") and one.address:
            found.add(one.address)
        else:
            return None
    return tuple(sorted(one for one in found if one.casefold() != own.casefold()))

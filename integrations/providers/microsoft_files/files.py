"""The files of one user's own drive at Microsoft, open to be read: documents, their text, and who
else reads them. What others share lies in their drives, and is not read."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from integrations.contracts import AccountRef, Document
from integrations.exceptions import NotFound, TooLarge
from integrations.network.answers import parse
from integrations.providers.drives.text import MAX_TEXT_BYTES, is_text
from integrations.providers.microsoft_files import grants
from integrations.providers.microsoft_files.answers import (
    GrantSaid,
    GrantsSaid,
    ItemSaid,
    ItemsSaid,
)
from integrations.providers.microsoft_files.grants import Owner
from integrations.providers.microsoft_files.session import FilesSession
from integrations.providers.signed_in.session import open_session

FIELDS = (
    "id,name,size,eTag,cTag,createdDateTime,lastModifiedDateTime,parentReference,file,folder,root,"
    "deleted,remoteItem"
)
DRIVE = "/me/drive"
CHANGES = f"{DRIVE}/root/delta"
# Of a page of what there is, and of requests that Graph takes as one.
AT_ONCE, PARTS = 200, 20
# What Graph converts, of what Remit cannot read as it is.
CONVERTED = frozenset(
    (
        "doc",
        "odp",
        "odt",
        "pot",
        "potm",
        "potx",
        "pps",
        "ppsx",
        "ppsxm",
        "ppt",
        "pptm",
        "pptx",
        "rtf",
    )
)
PDF, AS_IT_IS = "pdf", "bytes"
Grants = tuple[GrantSaid, ...]


class Files:
    def __init__(self, account: AccountRef) -> None:
        self.session, servers = open_session(account, FilesSession)
        self.account = account
        self.is_personal = servers.get("kind") == "personal"
        self.owner = Owner(address=account.address, id=str(servers.get("owner", "")))

    def at(self, id: str) -> ItemSaid:
        """A file or folder. Raises NotFound, also for what lies in the recycle bin."""
        return parse(ItemSaid, self.session.get(url_of(id), {"$select": FIELDS}))

    def get(self, id: str) -> ItemSaid:
        """Raises NotFound, also for a folder."""
        found = self.at(id)
        if not found.is_file:
            raise NotFound("there is no such file")
        return found

    def called(self, folder_id: str, name: str) -> ItemSaid:
        """What has this name in a folder. Raises NotFound."""
        return parse(ItemSaid, self.session.get(child_of(folder_id, name), {"$select": FIELDS}))

    def grants(self, id: str) -> Grants | None:
        """Who is let in. None where Graph does not say all of it."""
        return _all_of(parse(GrantsSaid, self.session.get(f"{url_of(id)}/permissions")))

    def grants_of(self, ids: Sequence[str]) -> dict[str, Grants | None]:
        """The same of many, some requests as one."""
        found: dict[str, Grants | None] = {}
        for start in range(0, len(ids), PARTS):
            some = ids[start : start + PARTS]
            said = self.session.get_all([f"{url_of(id)}/permissions" for id in some])
            for id, one in zip(some, said, strict=True):
                found[id] = None if one is None else _all_of(parse(GrantsSaid, one))
        return found

    def changes(self, link: str = "") -> Iterator[ItemsSaid]:
        """All that is there page by page, or all that has changed since Graph gave this link. The
        last page has the link to what changes from then on. Raises CursorExpired."""
        while True:
            page = self.page(link)
            yield page
            if not page.next_link:
                return
            link = self.session.path_of(page.next_link)

    def page(self, link: str = "", *, most: int = AT_ONCE) -> ItemsSaid:
        if link:
            return parse(ItemsSaid, self.session.get(link))
        wanted: dict[str, Any] = {"$select": FIELDS, "$top": most}
        return parse(ItemsSaid, self.session.get(CHANGES, wanted))

    def newest(self) -> str:
        """The link to what changes from now on."""
        said = parse(ItemsSaid, self.session.get(CHANGES, {"token": "latest"}))
        return self.session.path_of(said.delta_link or "")

    def describe(
        self, said: ItemSaid, let_in: Grants | None, *, text: str = "", trashed: bool = False
    ) -> Document:
        """Where nobody can say who else reads it, it has no owner: then all readers are unknown."""
        known = grants.readers(let_in, self.owner)
        roles = grants.roles(let_in or (), self.owner)
        at = said.changed or said.created or datetime.now(UTC)
        form = PDF if _is_converted(said) else AS_IT_IS
        return Document(
            id=said.id,
            revision=said.etag or "",
            updated_at=said.changed,
            name=said.name or "",
            mime_type=(said.file.mime_type or "") if said.file else "",
            content_text=text,
            folder_id=said.folder_id or None,
            created_at=said.created or at,
            modified_at=at,
            size_bytes=said.size or 0,
            file_id=f"{said.id} {form} {said.content_tag}" if said.content_tag else None,
            file_type="application/pdf" if form == PDF else "",
            shared_with=known or (),
            roles={name: role for name, role in roles.items() if name in (known or ())},
            owner=self.account.address if known is not None else "",
            trashed=trashed,
        )

    def text(self, said: ItemSaid) -> str:
        """Empty for what is no text, or too long."""
        kind = (said.file.mime_type or "") if said.file else ""
        if not is_text(kind, said.name or "") or (said.size or 0) > MAX_TEXT_BYTES:
            return ""
        try:
            return self.content(said.id, most=MAX_TEXT_BYTES).decode("utf-8-sig")
        except (TooLarge, UnicodeDecodeError):
            return ""

    def content(self, id: str, *, most: int, form: str = AS_IT_IS) -> bytes:
        wanted = {"format": form} if form == PDF else {}
        return self.session.download(f"{url_of(id)}/content", wanted, most_bytes=most)


def url_of(id: str) -> str:
    return f"{DRIVE}/items/{quote(id, safe='!')}"


def child_of(folder_id: str, name: str) -> str:
    return f"{url_of(folder_id)}:/{quote(name, safe='')}:"


def _is_converted(said: ItemSaid) -> bool:
    return (said.name or "").rpartition(".")[2].lower() in CONVERTED


def _all_of(said: GrantsSaid) -> Grants | None:
    """More than fits on a page is looked at by nobody."""
    return None if said.next_link else said.value

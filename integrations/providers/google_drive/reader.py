"""Reads of somebody's files at Google Drive."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import IO

from integrations.contracts import AccountRef, AnyItem, Change, Document, Folder, Page
from integrations.contracts.people import Correspondence, Correspondent
from integrations.exceptions import CursorExpired, NotFound, Rejected
from integrations.ports.evidence import Evidence
from integrations.ports.files import FilesReader
from integrations.providers.google_drive import evidence
from integrations.providers.google_drive.answers import FOLDER
from integrations.providers.google_drive.files import Files, url_of

AT_ONCE = 100


class GoogleDriveReader:
    """Satisfies `integrations.ports.files.FilesReader`."""

    def __init__(self, account: AccountRef) -> None:
        self._account = account

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """Files that were changed since then, the newest first, without their text."""
        own, query = Files(self._account), f"mimeType != '{FOLDER}'"
        if since is not None:
            query += f" and modifiedTime >= '{since.astimezone(UTC):%Y-%m-%dT%H:%M:%S}'"
        try:
            said = own.listed(query, most=min(limit, AT_ONCE), page=cursor)
        except Rejected as error:
            if cursor is None:
                raise
            raise CursorExpired("the cursor is none of this drive") from error
        return Page(
            items=tuple(own.describe(one) for one in said.files if not one.is_folder),
            next_cursor=said.next_page,
        )

    def items_in_window(self, *, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
        return self.items(since=since, cursor=cursor, limit=limit)

    def item(self, item_id: str) -> AnyItem:
        """Raises NotFound, also for what lies in the trash."""
        found = self.document(item_id)
        if found.trashed:
            raise NotFound("it is in the trash")
        return found

    def document(self, document_id: str) -> Document:
        """With its text, where it is one. What Google's own programs made is exported. What lies in
        the trash is there yet."""
        own = Files(self._account)
        said = own.get(document_id)
        return own.describe(said, text=own.text(said))

    def folders(self) -> tuple[Folder, ...]:
        return Files(self._account).folders()

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        """Raises NotFound, also where the file has other bytes by now."""
        id, _, digest = file_id.partition(" ")
        session = Files(self._account).session
        raw = session.download(url_of(id), {"alt": "media"}, most_bytes=most_bytes)
        if hashlib.md5(raw, usedforsecurity=False).hexdigest() != digest:
            raise NotFound("the file has other bytes by now")
        into.write(raw)

    def correspondence(self, address: str) -> Correspondence:
        return Correspondence(address=address, received=0, sent=0)

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        return ()

    def evidence(self, key: str) -> Evidence:
        return evidence.find(self._account, key)

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        raise NotFound("Google Drive's changes do not say by whom")


open_reader: Callable[[AccountRef], FilesReader] = GoogleDriveReader

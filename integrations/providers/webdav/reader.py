"""Reads of somebody's files."""

from collections.abc import Callable
from datetime import datetime
from typing import IO

from integrations.contracts import AccountRef, AnyItem, Change, Document, Folder, Page
from integrations.contracts.people import Correspondence, Correspondent
from integrations.exceptions import NotFound, TooLarge
from integrations.ports.evidence import Evidence
from integrations.ports.files import FilesReader
from integrations.providers.drives.text import MAX_TEXT_BYTES, is_text, read_text
from integrations.providers.webdav import documents, evidence
from integrations.providers.webdav.folders import File, Files


class WebDavReader:
    """Satisfies `integrations.ports.files.FilesReader`."""

    def __init__(self, account: AccountRef) -> None:
        self._account = account

    def items(self, *, since: datetime | None, cursor: str | None, limit: int) -> Page[AnyItem]:
        """What was changed since then, folder by folder. The cursor is the path of the last file
        that was looked at."""
        own, found = Files(self._account), list[File]()
        for listing in own.walk(cursor or ""):
            found += [one for one in listing.files if since is None or one.changed_at >= since]
            if len(found) > limit:
                break
        more, found = len(found) > limit, found[:limit]
        rows = documents.places(self._account, [one.path for one in found])
        return Page(
            items=tuple(documents.describe(own, rows[one.path], one) for one in found),
            next_cursor=found[-1].path if more else None,
        )

    def items_in_window(self, *, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
        return self.items(since=since, cursor=cursor, limit=limit)

    def item(self, item_id: str) -> AnyItem:
        return self.document(item_id)

    def document(self, document_id: str) -> Document:
        """With its text, where it is one."""
        own, row = Files(self._account), documents.place(self._account, document_id)
        file = own.file(row.path)
        text = ""
        if is_text(file.mime_type, file.name) and file.size <= MAX_TEXT_BYTES:
            try:
                _, raw = own.session.get(own.url(row.path), most_bytes=MAX_TEXT_BYTES)
                text = read_text(raw) or ""
            except TooLarge:
                text = ""
        return documents.describe(own, row, file, text=text)

    def folders(self) -> tuple[Folder, ...]:
        own = Files(self._account)
        return tuple(
            Folder(
                id=own.folder_id(one.path),
                name=f"/{own.folder_id(one.path).partition(':')[2]}",
                kind="drive",
                shared_with=one.readers,
            )
            for one in own.walk()
        )

    def file(self, file_id: str, *, into: IO[bytes], most_bytes: int) -> None:
        """Raises NotFound, also where the file has other bytes by now."""
        document_id, _, wanted = file_id.partition(" ")
        own, row = Files(self._account), documents.place(self._account, document_id)
        etag, raw = own.session.get(own.url(row.path), most_bytes=most_bytes)
        if etag != wanted:
            raise NotFound("the file has other bytes by now")
        into.write(raw)

    def correspondence(self, address: str) -> Correspondence:
        return Correspondence(address=address, received=0, sent=0)

    def correspondents(self, *, limit: int) -> tuple[Correspondent, ...]:
        return ()

    def evidence(self, key: str) -> Evidence:
        return evidence.find(self._account, key)

    def history(self, *, since: datetime, cursor: str | None, limit: int) -> Page[Change]:
        raise NotFound("a server of files keeps no history")


open_reader: Callable[[AccountRef], FilesReader] = WebDavReader

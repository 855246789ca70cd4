"""One user's files for the tests of `integrations.providers.webdav`."""

from dataclasses import dataclass
from typing import Any

from integrations.contracts import AccountRef, Document
from integrations.models import Credential
from integrations.providers.webdav import changes
from integrations.providers.webdav.reader import WebDavReader
from integrations.providers.webdav.writer import WebDavWriter
from tests.file_world import FileServer


@dataclass(frozen=True, kw_only=True)
class Box:
    """One user's files: at the server, and as Remit has them."""

    server: FileServer
    account: AccountRef

    @property
    def reader(self) -> WebDavReader:
        return WebDavReader(self.account)

    @property
    def writer(self) -> WebDavWriter:
        return WebDavWriter(self.account)

    def listed(self, *, limit: int = 10) -> list[str]:
        """What comes out of all pages, each file by its path."""
        found, cursor = list[str](), None
        while True:
            page: Any = self.reader.items(since=None, cursor=cursor, limit=limit)
            assert len(page.items) <= limit
            found += [f"{one.folder_path}/{one.name}".removeprefix("/") for one in page.items]
            cursor = page.next_cursor
            if cursor is None:
                return [one.removeprefix("/") for one in found]

    def document(self, name: str) -> Document:
        found: Any = self.reader.items(since=None, cursor=None, limit=100).items
        return self.reader.document(next(one.id for one in found if one.name == name))

    def look(self, *, is_first: bool = False) -> list[tuple[str, str]]:
        """What comes out at a look: kind and name, or id. It is kept, as a caller does."""
        found: list[tuple[str, str]] = []
        seen_at = None if is_first else self.document_time
        for looked in changes.look(self.account, seen_at=seen_at):
            looked.keep()
            for _, event in looked.events:
                found.append((event.kind, str((event.data or {}).get("name", event.source_id))))
        return found

    @property
    def document_time(self) -> Any:
        return Credential.objects.get(account_id=self.account.id).changed_at

    def point_to(self, port: int) -> None:
        """The server is reached at another port from now on."""
        row = Credential.objects.get(account_id=self.account.id)
        old = self.server.origin.rpartition(":")[2].strip("/")
        row.servers = {**row.servers, "home": row.servers["home"].replace(f":{old}/", f":{port}/")}
        row.save()

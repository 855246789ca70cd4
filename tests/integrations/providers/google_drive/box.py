"""One user's files at the fake of Google Drive."""

from dataclasses import dataclass

from integrations.contracts import AccountRef
from integrations.providers.google_drive import changes
from integrations.providers.google_drive.reader import GoogleDriveReader
from integrations.providers.google_drive.writer import GoogleDriveWriter
from tests.google_drive_world import GoogleDrive


@dataclass(frozen=True, kw_only=True)
class Box:
    google: GoogleDrive
    account: AccountRef

    @property
    def reader(self) -> GoogleDriveReader:
        return GoogleDriveReader(self.account)

    @property
    def writer(self) -> GoogleDriveWriter:
        return GoogleDriveWriter(self.account)

    def look(self) -> list[tuple[str, str]]:
        """What is new: kinds and names, or ids of what is gone."""
        found: list[tuple[str, str]] = []
        for looked in changes.look(self.account):
            for _, event in looked.events:
                data = event.data or {}
                found.append((event.kind, data.get("name", event.source_id)))
            looked.keep()
        return found

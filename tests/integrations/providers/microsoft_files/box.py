"""One user's files at the fake of Microsoft Graph."""

from dataclasses import dataclass

from integrations.contracts import AccountRef
from integrations.models import Credential
from integrations.providers.microsoft_files import changes
from integrations.providers.microsoft_files.reader import GraphFilesReader
from integrations.providers.microsoft_files.writer import GraphFilesWriter
from tests.microsoft_files_world import OneDrive


@dataclass(frozen=True, kw_only=True)
class Box:
    onedrive: OneDrive
    account: AccountRef

    @property
    def reader(self) -> GraphFilesReader:
        return GraphFilesReader(self.account)

    @property
    def writer(self) -> GraphFilesWriter:
        return GraphFilesWriter(self.account)

    def as_kept(self) -> None:
        """The credential says of the drive what is so now."""
        Credential.objects.filter(account_id=self.account.id).update(servers=self.onedrive.servers)

    def look(self) -> list[tuple[str, str]]:
        """What is new: kinds and names, or ids of what is gone."""
        found: list[tuple[str, str]] = []
        for looked in changes.look(self.account):
            for _, event in looked.events:
                data = event.data or {}
                found.append((event.kind, data.get("name", event.source_id)))
            looked.keep()
        return found

"""One user's mailbox at the fake of Microsoft Graph."""

from dataclasses import dataclass

from integrations.contracts import AccountRef
from integrations.providers.microsoft_mail import changes
from integrations.providers.microsoft_mail.reader import GraphMailReader
from integrations.providers.microsoft_mail.writer import GraphMailWriter
from tests.microsoft_world import Outlook


@dataclass(frozen=True, kw_only=True)
class Box:
    outlook: Outlook
    account: AccountRef

    @property
    def reader(self) -> GraphMailReader:
        return GraphMailReader(self.account)

    @property
    def writer(self) -> GraphMailWriter:
        return GraphMailWriter(self.account)

    def look(self) -> list[tuple[str, str]]:
        """What is new: kinds and subjects, or ids of what is gone."""
        found: list[tuple[str, str]] = []
        for looked in changes.look(self.account):
            for _, event in looked.events:
                data = event.data or {}
                found.append((event.kind, data.get("subject", event.source_id)))
            looked.keep()
        return found

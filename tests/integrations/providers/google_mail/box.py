"""One user's mailbox at the fake of Gmail."""

from dataclasses import dataclass

from integrations.contracts import AccountRef
from integrations.contracts.outgoing import OutgoingMail
from integrations.providers.google_mail import changes
from integrations.providers.google_mail.reader import GmailReader
from integrations.providers.google_mail.writer import GmailWriter
from tests.google_world import Gmail


@dataclass(frozen=True, kw_only=True)
class Box:
    gmail: Gmail
    account: AccountRef

    @property
    def reader(self) -> GmailReader:
        return GmailReader(self.account)

    @property
    def writer(self) -> GmailWriter:
        return GmailWriter(self.account)

    def look(self) -> list[tuple[str, str]]:
        """What is new: kinds and subjects, or ids of what is gone."""
        found: list[tuple[str, str]] = []
        for looked in changes.look(self.account):
            for _, event in looked.events:
                data = event.data or {}
                found.append((event.kind, data.get("subject", event.source_id)))
            looked.keep()
        return found


def mail(**fields: object) -> OutgoingMail:
    usual = {"to": ("tom@elsewhere.test",), "subject": "Friday", "body": "See you on Friday."}
    return OutgoingMail(**(usual | fields))  # type: ignore[arg-type]

"""One user's mailbox for the tests of `integrations.providers.jmap`."""

from dataclasses import dataclass

from integrations.contracts.outgoing import OutgoingMail
from integrations.providers.jmap.mails import Mails, mails_of
from integrations.providers.jmap.reader import JmapReader
from integrations.providers.jmap.writer import JmapWriter
from tests.cyrus_world import CyrusWorld
from tests.integrations.providers.imap import box


@dataclass(frozen=True, kw_only=True)
class Box(box.Box):
    """One user's mailbox: at the server, as its user's own program shows it over IMAP, and as
    Remit has it."""

    world: CyrusWorld

    @property
    def reader(self) -> JmapReader:  # type: ignore[override]
        return JmapReader(self.account)

    @property
    def writer(self) -> JmapWriter:  # type: ignore[override]
        return JmapWriter(self.account)

    @property
    def mails(self) -> Mails:
        return mails_of(self.account)


def mail(**fields: object) -> OutgoingMail:
    usual = {"to": ("tom@elsewhere.test",), "subject": "Friday", "body": "See you on Friday."}
    return OutgoingMail(**(usual | fields))  # type: ignore[arg-type]

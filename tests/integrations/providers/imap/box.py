"""One user's mailbox for the tests of `integrations.providers.imap`."""

from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any, cast
from uuid import uuid4

from integrations.contracts import AccountRef, Email, Page
from integrations.providers.imap.reader import ImapReader
from integrations.providers.imap.writer import ImapWriter
from tests.mail_world import MailWorld


@dataclass(frozen=True, kw_only=True)
class Box:
    """One user's mailbox: at the server, and as Remit has it."""

    world: MailWorld
    account: AccountRef

    @property
    def address(self) -> str:
        return self.account.address

    @property
    def reader(self) -> ImapReader:
        return ImapReader(self.account)

    @property
    def writer(self) -> ImapWriter:
        return ImapWriter(self.account)

    def deliver(self, subject: str = "Lunch", body: str = "At noon?", **headers: str) -> str:
        """A mail that comes in; its Message-ID."""
        mail = EmailMessage()
        named = {
            "From": "Tom <tom@elsewhere.test>",
            "To": self.address,
            "Subject": subject,
            "Date": "Mon, 09 Mar 2026 10:00:00 +0100",
            "Message-ID": f"<{uuid4().hex}@elsewhere.test>",
        }
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in named.items():
            mail[name] = value
        mail.set_content(body)
        self.world.deliver(self.address, mail)
        return str(mail["Message-ID"])

    def page(self, *, cursor: str | None = None, limit: int = 10) -> Page[Email]:
        """A page of all that is read in."""
        return cast(Page[Email], self.reader.items(since=None, cursor=cursor, limit=limit))

    def only(self) -> Email:
        """The one mail that a listing finds."""
        (found,) = self.page().items
        return found

    def held(self) -> dict[str, list[tuple[str, tuple[bytes, ...]]]]:
        """What the server holds: subjects and flags by folder, for folders that hold anything."""
        found = {}
        with self.world.client(self.address) as client:
            for _, _, name in client.list_folders():
                client.select_folder(name, readonly=True)
                mails = client.fetch(client.search(), ["ENVELOPE", "FLAGS"])
                if mails:
                    found[name] = [
                        (
                            mail[b"ENVELOPE"].subject.decode(),
                            tuple(flag for flag in sorted(mail[b"FLAGS"]) if flag != b"\\Recent"),
                        )
                        for mail in mails.values()
                    ]
        return found


def sent_from(box: Box) -> list[Any]:
    """What the server handed on in this user's name."""
    return [one for one in box.world.sink.taken if one[0] == box.address]

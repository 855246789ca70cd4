"""Where a mailbox is: its mail server and its submission server. Pure."""

from dataclasses import dataclass
from typing import Any

from integrations.contracts.servers import Server


@dataclass(frozen=True, kw_only=True)
class MailServers:
    """`files_sent`: the submission server puts a copy of what it sends into the mailbox itself.
    `checks_as` is the name under which the mail server writes down whom it believes
    (Authentication-Results, RFC 8601); without it no sender is believed."""

    imap: Server
    smtp: Server | None = None
    files_sent: bool = False
    checks_as: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "imap": vars(self.imap),
            "smtp": vars(self.smtp) if self.smtp else None,
            "files_sent": self.files_sent,
            "checks_as": self.checks_as,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "MailServers":
        smtp = data.get("smtp")
        return cls(
            imap=Server(**data["imap"]),
            smtp=Server(**smtp) if smtp else None,
            files_sent=bool(data.get("files_sent")),
            checks_as=str(data.get("checks_as", "")),
        )

"""Where a mailbox is: its mail server and its submission server. Pure."""

from dataclasses import dataclass
from typing import Any, Literal

Security = Literal["tls", "starttls"]
STARTTLS_PORTS = frozenset({25, 143, 587, 2525})


@dataclass(frozen=True, kw_only=True)
class Server:
    """Every connection is encrypted: from the start (`tls`) or before anything is said."""

    host: str
    port: int
    security: Security = "tls"


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


def read_server(text: str, *, usual_port: int, security: Security | None = None) -> Server:
    """From HOST or HOST:PORT; None: encrypted as is usual at that port. Raises ValueError with a
    sentence."""
    host, _, number = text.strip().partition(":")
    is_port = number.isascii() and number.isdecimal() and 0 < int(number[:6]) < 65536
    if number and not is_port:
        raise ValueError(f"“{number}” is no port.")
    if not host:
        raise ValueError("Name the server.")
    port = int(number or usual_port)
    usual: Security = "starttls" if port in STARTTLS_PORTS else "tls"
    return Server(host=host, port=port, security=security or usual)

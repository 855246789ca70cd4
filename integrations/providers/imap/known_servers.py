"""Servers of mail providers that many people have, by the domain of an address. Pure.

From what each provider tells its users to enter; not tried against their servers. `files_sent`: it
keeps a copy of what is sent by itself. Most want an app password, made in the account's settings.
"""

from typing import NamedTuple

from integrations.contracts.servers import Server
from integrations.providers.imap.servers import MailServers


class Known(NamedTuple):
    imap: str
    smtp: str
    domains: tuple[str, ...]
    starttls: bool = False
    files_sent: bool = False
    checks_as: str = ""


KNOWN = (
    Known(
        "imap.gmail.com",
        "smtp.gmail.com",
        ("gmail.com", "googlemail.com"),
        files_sent=True,
        checks_as="mx.google.com",
    ),
    Known(
        "imap.mail.me.com", "smtp.mail.me.com", ("icloud.com", "me.com", "mac.com"), starttls=True
    ),
    Known(
        "imap.mail.yahoo.com",
        "smtp.mail.yahoo.com",
        ("yahoo.com", "yahoo.co.uk", "yahoo.de", "yahoo.fr", "yahoo.it", "yahoo.es", "ymail.com"),
        files_sent=True,
    ),
    Known("imap.aol.com", "smtp.aol.com", ("aol.com",), files_sent=True),
    Known("imap.fastmail.com", "smtp.fastmail.com", ("fastmail.com", "fastmail.fm")),
    Known("imap.mailbox.org", "smtp.mailbox.org", ("mailbox.org",)),
    Known("posteo.de", "posteo.de", ("posteo.de", "posteo.net", "posteo.org")),
    Known("imap.gmx.net", "mail.gmx.net", ("gmx.de", "gmx.net", "gmx.at", "gmx.ch")),
    Known("imap.gmx.com", "mail.gmx.com", ("gmx.com", "mail.com")),
    Known("imap.web.de", "smtp.web.de", ("web.de",), starttls=True),
    Known("secureimap.t-online.de", "securesmtp.t-online.de", ("t-online.de",)),
    Known("imap.zoho.com", "smtp.zoho.com", ("zoho.com", "zohomail.com"), files_sent=True),
    Known("imap.orange.fr", "smtp.orange.fr", ("orange.fr", "wanadoo.fr")),
    Known("imap.free.fr", "smtp.free.fr", ("free.fr",)),
    Known("imapmail.libero.it", "smtp.libero.it", ("libero.it",)),
    Known("mail.infomaniak.com", "mail.infomaniak.com", ("ik.me", "etik.com")),
)
# Sign-in by password is switched off there; OAuth is not built yet.
NO_PASSWORDS = frozenset({"outlook.com", "hotmail.com", "live.com", "msn.com"})


def find_known(address: str) -> MailServers | None:
    domain = address.rpartition("@")[2].lower()
    found = next((one for one in KNOWN if domain in one.domains), None)
    if found is None:
        return None
    port, security = (587, "starttls") if found.starttls else (465, "tls")
    return MailServers(
        imap=Server(host=found.imap, port=993),
        smtp=Server(host=found.smtp, port=port, security=security),  # type: ignore[arg-type]
        files_sent=found.files_sent,
        checks_as=found.checks_as,
    )


def guess(address: str) -> tuple[MailServers, ...]:
    """What servers of a domain are mostly called, to be tried in this order."""
    domain = address.rpartition("@")[2].lower()
    return tuple(
        MailServers(
            imap=Server(host=f"{name}.{domain}", port=993),
            smtp=Server(host=f"{out}.{domain}", port=465),
        )
        for name, out in (("imap", "smtp"), ("mail", "mail"))
    )

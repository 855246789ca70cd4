"""Mailboxes over IMAP and SMTP, as people connect them."""

from collections.abc import Iterable

from integrations.providers.connectable import (
    MAIL_PORTS,
    USER_NAME,
    Asked,
    Connectable,
    Found,
    Given,
    Trial,
)
from integrations.providers.imap import changes, discovery, trial
from integrations.providers.imap.servers import MailServers


def begin(given: Given) -> Trial:
    """At the servers that are named, or those of the address."""
    named = (MailServers(imap=given.imap, smtp=given.smtp),) if given.imap else None
    candidates = named or discovery.find_servers(given.address)

    def run() -> Found:
        tried = trial.try_servers(candidates, user_name=given.user_name, secret=given.secret)
        return Found(
            host=tried.servers.imap.host,
            abilities=tried.abilities,
            servers=tried.servers.to_json(),
            mails=tried.mails,
        )

    return Trial(ports=tuple(_ports(candidates)), run=run)


def _ports(candidates: Iterable[MailServers]) -> Iterable[int]:
    return (
        one.port
        for servers in candidates
        for one in (servers.imap, servers.smtp)
        if one is not None
    )


CONNECTABLE = Connectable(
    what="mailbox",
    title="Connect a mailbox",
    about="A mailbox of a user in {organisation}, at any provider with IMAP.",
    in_short="a mailbox, as where it is left out",
    over="IMAP",
    begin=begin,
    more=(
        USER_NAME,
        Asked(
            name="imap",
            label="Mail server (IMAP)",
            hint="Empty: found by the address.",
            placeholder="imap.example.org:993",
        ),
        Asked(
            name="smtp",
            label="Server to send with (SMTP)",
            hint="Only beside a mail server; empty: mail is read and not sent.",
            placeholder="smtp.example.org:465",
        ),
    ),
    note="Outlook.com takes no passwords from programs: its users sign in at Microsoft's own page.",
    ports=MAIL_PORTS,
    port_kind="mail",
    command="connect_mailbox",
    look=changes.look,
    trouble={
        "not_permitted": "The server refuses to show the mailbox.",
        "not_found": "The mailbox has no folder that can be read.",
    },
)

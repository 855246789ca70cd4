"""Mailboxes over JMAP, as people connect them."""

from integrations.providers.connectable import (
    USER_NAME,
    Asked,
    Connectable,
    Found,
    Given,
    Trial,
    host_of,
    port_of,
)
from integrations.providers.jmap import changes, trial


def begin(given: Given) -> Trial:
    """At the server that is named, or where the address's domain has it."""
    url = trial.read_url(given.url) if given.url else trial.find_url(given.address)

    def run() -> Found:
        tried = trial.try_server(url, user_name=given.user_name, secret=given.secret)
        return Found(
            host=host_of(tried.server.session),
            abilities=tried.abilities,
            servers=tried.server.to_json(),
            mails=tried.mails,
        )

    return Trial(ports=(port_of(url),), run=run)


CONNECTABLE = Connectable(
    what="mailbox",
    title="Connect a mailbox over JMAP",
    about="A mailbox of a user in {organisation}, at a provider with JMAP: nearly every lost "
    "answer is settled there without a person.",
    in_short="a mailbox whose server speaks JMAP",
    over="JMAP",
    begin=begin,
    more=(
        USER_NAME,
        Asked(
            name="url",
            label="Mail server (JMAP)",
            hint="Empty: found by the address.",
            placeholder="https://jmap.example.org",
        ),
    ),
    note="Outlook.com takes no passwords from programs: its users sign in at Microsoft's own page.",
    port_kind="mail",
    command="connect_mailbox --jmap",
    look=changes.look,
    trouble={},
)

"""Address books over CardDAV, as people connect them."""

from collections.abc import Iterable
from datetime import datetime

from integrations.contracts import AccountRef
from integrations.providers.carddav import changes, trial
from integrations.providers.connectable import (
    USER_NAME,
    USERS_ADDRESS,
    Asked,
    Connectable,
    Found,
    Given,
    Looked,
    Trial,
    host_of,
    port_of,
)


def begin(given: Given) -> Trial:
    """At the server that is named, or where the address's contacts may be."""
    urls = (trial.read_url(given.url),) if given.url else trial.find_urls(given.address)

    def run() -> Found:
        tried = trial.try_urls(urls, user_name=given.user_name, secret=given.secret)
        return Found(
            host=host_of(tried.server.home),
            abilities=tried.abilities,
            servers=tried.server.to_json(),
            books=tuple(one.name or one.path for one in tried.books),
        )

    return Trial(ports=tuple(map(port_of, urls)), run=run)


def look(account: AccountRef, *, seen_at: datetime | None) -> Iterable[Looked]:
    return changes.look(account)


CONNECTABLE = Connectable(
    what="address book",
    title="Connect contacts",
    about="Address books of a user in {organisation}, at any provider with CardDAV. Who is in one "
    "is no stranger to the user's agent; nothing is written there, and no action is permitted by "
    "it.",
    in_short="contacts",
    begin=begin,
    more=(
        USER_NAME,
        Asked(
            name="url",
            label="Server (CardDAV)",
            hint="Empty: found by the address.",
            placeholder="https://dav.example.org",
        ),
    ),
    address_hint=USERS_ADDRESS,
    has_display_name=False,
    note="Google and Outlook.com take no passwords from programs for contacts.",
    port_kind="contacts",
    command="connect_contacts",
    look=look,
    trouble={
        "not_permitted": "The server refuses to show the address books.",
        "not_found": "The address books are not where they were. Connect them again.",
        "rejected": "The address books are not where they were, or too large.",
    },
)

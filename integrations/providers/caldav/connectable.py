"""Calendars over CalDAV, as people connect them."""

from collections.abc import Iterable
from datetime import datetime

from integrations.contracts import AccountRef
from integrations.providers.caldav import changes, trial
from integrations.providers.connectable import (
    USER_NAME,
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
    """At the server that is named, or where the address's calendars may be."""
    urls = (trial.read_url(given.url),) if given.url else trial.find_urls(given.address)

    def run() -> Found:
        tried = trial.try_urls(urls, user_name=given.user_name, secret=given.secret)
        return Found(
            host=host_of(tried.server.home),
            abilities=tried.abilities,
            servers=tried.server.to_json(),
            calendars=tuple(one.name or one.path for one in tried.calendars),
        )

    return Trial(ports=tuple(map(port_of, urls)), run=run)


def look(account: AccountRef, *, seen_at: datetime | None) -> Iterable[Looked]:
    return changes.look(account)


CONNECTABLE = Connectable(
    what="calendar",
    title="Connect calendars",
    about="Calendars of a user in {organisation}, at any provider with CalDAV.",
    in_short="calendars",
    begin=begin,
    more=(
        USER_NAME,
        Asked(
            name="url",
            label="Calendar server (CalDAV)",
            hint="Empty: found by the address.",
            placeholder="https://dav.example.org",
        ),
    ),
    note="Google and Outlook.com take no passwords from programs: their users sign in at their own "
    "pages.",
    port_kind="calendar",
    command="connect_calendar",
    look=look,
    trouble={
        "not_permitted": "The server refuses to show the calendars.",
        "not_found": "The calendars are not where they were. Connect them again.",
        "rejected": "The calendars are not where they were. Connect them again.",
    },
)

"""Whom the user wrote to themselves, under the names that their own mail calls them by. What a
stranger calls itself is no such name, and mail that the agent sent unasked says nothing.
"""

from datetime import datetime, timedelta

from guardrails.facts import targets
from guardrails.facts.people import Person, check_name
from guardrails.gather import own_mail
from integrations.contracts import AccountRef
from integrations.ports.account import Reader

MOST = 200  # those to whom the user wrote last
RECENT = timedelta(days=30)  # only who was written to since contests a colleague's first name


def correspondents(reader: Reader, account: AccountRef, *, now: datetime) -> tuple[Person, ...]:
    """The people to whom the user wrote last, as far as a name means them: none of no name, no
    group. One call of the provider and one query. Raises ProviderError."""
    found = [one for one in reader.correspondents(limit=MOST) if one.names and not one.group]
    by_agent = own_mail.sent_by_agent(account, [one.address for one in found]) if found else {}
    return tuple(
        Person(
            address=one.address,
            key=one.address,
            names=names,
            source="sent" if one.last_sent_at >= now - RECENT else "sent_before",
        )
        for one in found[:MOST]
        if one.address == targets.address_or_none(one.address)
        and one.sent > by_agent.get(one.address.lower(), 0)
        and (names := _names(one.names))
    )


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    names = []
    for one in given:
        try:
            names.append(check_name(one))
        except ValueError:
            continue  # nobody could be called so
    return tuple(dict.fromkeys(names))

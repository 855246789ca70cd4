"""Trying somebody's calendars at Microsoft with what a consent gave, before anything is stored.
Nothing is changed there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from integrations.credentials.oauth import Tokens
from integrations.exceptions import Rejected
from integrations.ports.evidence import Ability
from integrations.providers.microsoft.servers import (
    CHANGE_CALENDARS,
    GRAPH_API,
    LASTING,
    MICROSOFT,
    WHO,
    missing,
)
from integrations.providers.microsoft.trial import check_user, who_is
from integrations.providers.microsoft_calendar.calendars import CalendarSession, list_calendars
from integrations.providers.signed_in.servers import service
from integrations.providers.signed_in.trial import explained, token_of
from integrations.providers.trial_slots import slots

SCOPES = (CHANGE_CALENDARS, WHO, LASTING)
HOST = "graph.microsoft.com"


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and what there is."""

    servers: dict[str, Any]
    calendars: tuple[str, ...]
    abilities: tuple[Ability, ...]


def try_account(found: Tokens, *, address: str, api: str = GRAPH_API) -> Tried:
    """Raises ProviderError with a sentence for people: also where somebody else signed in, or did
    not agree to all."""
    if missing(SCOPES, found.scopes):
        raise Rejected(
            "You did not allow Remit to read and change the calendars. Begin again, and agree to "
            "all of it."
        )
    session = CalendarSession(api, token_of(found, MICROSOFT), slot=slots())
    with explained(
        MICROSOFT,
        "Microsoft does not show these calendars. Does this user have a mailbox there, and does "
        "the organisation let its users agree to this?",
    ):
        who = who_is(session)
        calendars = list_calendars(session)
    check_user(who, address)
    return Tried(
        servers=service(api, ends_at=found.ends_at),
        calendars=tuple(one.name or one.id for one in calendars),
        abilities=tuple(_abilities()),
    )


def _abilities() -> Iterator[Ability]:
    looked = (
        "Right before, Remit looks whether the event is still what was decided on. What it changed "
        "carries its mark, so a lost answer is found."
    )
    rows = (
        ("Read and search", "A", "Reading changes nothing there."),
        (
            "Create events",
            "A",
            "Microsoft creates an event once under Remit's own id for it; doing it twice changes "
            "nothing. New events go into the user's own calendar.",
        ),
        ("Change and cancel events", "B", f"{looked} Only events that the user invited to."),
        (
            "Invite people",
            "A",
            "Microsoft itself tells everybody who attends, as soon as it is saved.",
        ),
    )
    for what, grade, why in rows:
        yield Ability(what=what, grade=grade, why=why)

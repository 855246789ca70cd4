"""Trying somebody's calendars at Google with what a consent gave, before anything is stored.
Nothing is changed there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from integrations.credentials.oauth import Tokens
from integrations.ports.evidence import Ability
from integrations.providers.google.servers import (
    CALENDAR_API,
    GOOGLE,
    READ_CALENDARS,
    READ_EVENTS,
    WRITE_OWN_EVENTS,
)
from integrations.providers.google.trial import session_with
from integrations.providers.google_calendar.calendars import list_calendars, primary_of
from integrations.providers.signed_in.servers import service
from integrations.providers.signed_in.trial import check_who, explained

# All calendars that the user sees can be read; Google itself lets only those be written to that
# are the user's own.
SCOPES = (READ_CALENDARS, READ_EVENTS, WRITE_OWN_EVENTS)
HOST = "www.googleapis.com"


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A sign-in that worked, and what there is."""

    servers: dict[str, Any]
    calendars: tuple[str, ...]
    abilities: tuple[Ability, ...]


def try_account(found: Tokens, *, address: str, api: str = CALENDAR_API) -> Tried:
    """Raises ProviderError with a sentence for people: also where somebody else signed in, or did
    not agree to all."""
    what = "read the calendars and change the user's own"
    session = session_with(found, api, scopes=SCOPES, what=what)
    with explained(
        GOOGLE,
        "Google does not show these calendars. Is the Google Calendar API switched on in the "
        "project that the client belongs to, and Calendar for this user?",
    ):
        calendars = list_calendars(session)
        own = primary_of(calendars)
    check_who(own.id, address)
    return Tried(
        servers=service(api, ends_at=found.ends_at),
        calendars=tuple(one.own_name or one.name or one.id for one in calendars),
        abilities=tuple(_abilities()),
    )


def _abilities() -> Iterator[Ability]:
    same = "Google changes only the version that was looked at."
    rows = (
        ("Read and search", "Reading changes nothing there."),
        (
            "Create events",
            "Remit chooses the event's id, and Google takes each id once; doing it twice changes "
            "nothing. New events go into the user's own calendar.",
        ),
        ("Change and cancel events", f"{same} Only in calendars that are the user's own."),
        ("Invite people", "Google itself tells everybody who attends, as soon as it is saved."),
    )
    for what, why in rows:
        yield Ability(what=what, grade="A", why=why)

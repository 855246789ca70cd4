"""When the user's time is taken, for answers to mails that ask about time.

Nothing but the times: who wrote the mail may read what is answered.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from agents.context import clock, results
from agents.contracts import Person
from guardrails.words.spots import spots
from guardrails.words.vocabulary import MeaningKind
from integrations.ports.registry import writable
from knowledge.search import agenda

DAYS = 10
MOST_CHARS = 6_000  # of a mail are looked through
TIMES: tuple[MeaningKind, ...] = (*("weekday", "day", "part", "clock", "o'clock", "week", "unit"),)
# What people ask by who name no time, in the languages whose times are read.
ASKED_BY = frozenset(
    {
        *("when", "available", "availability", "appointment", "meet", "meeting", "calendar"),
        *("wann", "termin", "termine", "treffen", "besprechung", "kalender"),
        *("quand", "disponible", "disponibilité", "rendez", "réunion", "calendrier"),
        *("cuándo", "cita", "reunión", "disponibilidad", "calendario"),
        *("quando", "appuntamento", "riunione", "disponibilità"),
    }
)


def render(person: Person, text: str, now: datetime) -> str:
    """A line of data about the next days, in the user's zone; empty where there is none."""
    taken = find_taken(person, text, now)
    if taken is None:
        return ""
    return f"[calendar] Taken in the user's next {DAYS} days: {results.fence(taken)}"


def find_taken(person: Person, text: str, now: datetime) -> Sequence[dict[str, str]] | None:
    """When the user's time is taken in the next days, in their zone; None where the text says
    nothing about time, or no calendar of theirs is known."""
    if not any(one.source in writable("calendar") for one in person.accounts):
        return None
    if not any(
        one.means(*TIMES) or one.text.casefold() in ASKED_BY for one in spots(text[:MOST_CHARS])
    ):
        return None
    meetings = agenda.list_meetings(
        account_ids=[one.id for one in person.accounts],
        own=[one.address for one in person.accounts],
        since=now,
        until=now + timedelta(days=DAYS),
    )
    return [
        {
            "begins": clock.show(one.starts_at, person.time_zone),
            "ends": clock.show(one.ends_at, person.time_zone),
        }
        for one in meetings
        if not one.free
    ]

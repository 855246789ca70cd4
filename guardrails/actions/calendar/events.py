"""What calendar actions have in common: times with a zone, and the people of an event."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from guardrails.actions.base import SUBJECT_SHOWN
from guardrails.facts.classes import Is
from guardrails.facts.facts import Facts
from guardrails.facts.targets import Target, audience
from guardrails.facts.text import visible


def moment(text: str) -> str:
    """A time in ISO 8601 with its zone, in one form. Raises ValueError for anything else."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError("must be a time such as 2026-03-02T10:00:00+01:00") from error
    if found.tzinfo is None:
        raise ValueError("needs a zone, such as 2026-03-02T10:00:00+01:00")
    return found.isoformat()


def in_order(start: str, end: str) -> bool:
    """Whether one moment comes before the other."""
    return datetime.fromisoformat(start) < datetime.fromisoformat(end)


def in_zone_of(before: datetime, after: str) -> str:
    """A moment in the zone in which another is given, so that people can compare the two."""
    return before.astimezone(datetime.fromisoformat(after).tzinfo).isoformat()


Moment = Annotated[str, Field(max_length=40), AfterValidator(moment), Is("time")]


def people_of(facts: Facts) -> tuple[Target, ...] | None:
    """Everybody else the present event concerns; None when that is not known."""
    people = facts.event_people
    return None if people is None else audience("event.people", people)


def titled(facts: Facts) -> str:
    """The event for people: title and start, cut and safe to show."""
    if facts.event is None:
        return ""
    title = visible(facts.event.title, limit=SUBJECT_SHOWN)
    return f"“{title}” ({facts.event.start:%Y-%m-%d %H:%M %Z})"

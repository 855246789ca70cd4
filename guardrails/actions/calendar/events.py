"""What calendar actions have in common: times with a zone, and the people of an event."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from guardrails.facts.classes import Is
from guardrails.facts.content import Content, of_object
from guardrails.facts.exposure import ExposedObject, Exposure, Reader, expose, with_readers
from guardrails.facts.facts import Facts
from guardrails.facts.phrases import phrase
from guardrails.facts.targets import Target, audience
from guardrails.facts.text import quote, visible
from integrations.contracts import Event
from integrations.contracts.field_types import find_zone


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


def kind_of(facts: Facts) -> str:
    """What the action is about: an event, one of a series alone, or every one of it."""
    event = facts.event
    if event is None or not (event.series_id or event.recurrence):
        return phrase("an event")
    if event.recurrence or event.this_and_future:
        return phrase("a whole series of events")
    day = event.start.astimezone(find_zone(event.time_zone) or event.start.tzinfo)
    return phrase("only the one on %(day)s of a series", day=f"{day:%A} {day.day} {day:%B %Y}")


def titled(facts: Facts) -> str:
    """When the event is, and its title, quoted."""
    if facts.event is None:
        return ""
    return phrase(
        "on %(time)s: %(title)s",
        time=facts.event.start.isoformat(timespec="minutes"),
        title=quote(facts.event.title),
    )


def with_people(facts: Facts, added: Sequence[str] = ()) -> str:
    """Everybody else whom a change of the event reaches, as they stand in a line."""
    present = [one.value for one in people_of(facts) or ()]
    people = dict.fromkeys((*added, *present))
    return with_all(", ".join(map(visible, people))) if people else ""


def with_all(people: str) -> str:
    """People as they stand in a line, with a blank before."""
    return phrase(" with %(people)s", people=people)


def exposed(facts: Facts, coming: Iterable[Reader]) -> tuple[Exposure, ...]:
    """The whole event, where people are invited to it who saw nothing of it before."""
    event, present = facts.event, _people(facts)
    known = {one.address for one in present}
    guests = [one for one in coming if one.address not in known]
    if event is None or not guests:
        return ()
    before, after = with_readers(present, guests)
    text = "\n".join(filter(None, (event.location, event.description)))
    content = facts.content or Content()
    return expose(_object(event, facts), text, content, before=before, after=after)


def added(facts: Facts, text: str) -> tuple[Exposure, ...]:
    """Text that is put into an event which others see."""
    event, present = facts.event, _people(facts)
    if event is None or not present:
        return ()
    content, found = of_object((text,)), _object(event, facts)
    return expose(found, text, content, before=present, after=present, adds=True)


def _object(event: Event, facts: Facts) -> ExposedObject:
    return ExposedObject("event", event.id, event.title, event.created_by, facts.object_places)


def _people(facts: Facts) -> tuple[Reader, ...]:
    """Everybody else who sees the event, as far as that is known."""
    return tuple([Reader(one, "attendee") for one in facts.event_people or ()])

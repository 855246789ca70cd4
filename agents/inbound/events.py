"""What the event reader is asked about an invitation: how the user may answer it.

What it collides with and when the user is free is worked out here, from all calendars of the user
that were read in. An event that the user made themself, or an action of the assistant's own, is no
invitation; nor is one that the user has answered, that is over, that takes no time of theirs, or
that cannot be answered from the calendar that it stands in.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from agents.context import clock, prompts
from agents.contracts import Person
from agents.inbound.triage import Arrival, Brief
from agents.journal import suggestions
from agents.journal.suggestions import Seen
from agents.tools import suggest
from agents.tools.suggest import Invitation
from agents.turns import roster
from guardrails.facts.text import quote
from guardrails.gather import strangers
from integrations.accounts.reads import reader
from integrations.contracts import Event
from integrations.contracts.preferences import DAYS
from integrations.exceptions import ProviderError
from knowledge.search import agenda
from knowledge.search.agenda import Meeting, Span

TEXT_LIMIT = 2000  # characters of the description
UNANSWERED = frozenset({"", "needs_action"})
SERIES_AHEAD = timedelta(days=30)  # of a series
NEAR = timedelta(days=5)  # an event another time may lie
MOST_COLLISIONS, MOST_FREE = 5, 3
LONGEST = timedelta(hours=8)  # for which another time is looked for
QUARTER = timedelta(minutes=15)


def brief(arrival: Arrival, event: Event) -> Brief | None:
    """None where nothing is to be asked."""
    if not arrival.permitted or event.status.casefold() == "cancelled":
        return None
    user = arrival.user
    if not _is_unanswered(event, arrival):
        return None
    times = find_times(arrival.account.id, event.id, now=arrival.now)
    present = arrival.as_it_is(event) if times else None
    if present is None or not _is_unanswered(present, arrival):
        return None
    replies = arrival.reader.replies(present)
    if "answer" not in replies:
        return None
    event, collisions = present, find_collisions(user, times)
    is_stranger = _is_stranger(user, event.created_by)
    answers: tuple[suggest.Answer, ...] = ("tentative", "decline")
    free = _free(arrival, times[0], event) if collisions and not is_stranger else ()
    zone = user.time_zone
    invitation = Invitation(
        seen=Seen(
            object_id=event.id,
            revision=event.revision,
            basis=render_basis(times, collisions),
            reasons=suggestions.reasons_of_invitation(
                who=event.created_by or "",
                times=_in_zone(times[0].span, zone),
                collisions=[(one.title, _in_zone(one.span, zone)) for one in collisions],
                is_stranger=is_stranger,
            ),
        ),
        times={number: _in_zone(one, zone) for number, one in enumerate(free, start=1)},
        takes_times="time" in replies,
        answers=answers if is_stranger else ("accept", *answers),
        free={number: _in_words(one, zone) for number, one in enumerate(free, start=1)},
        because=[
            *(
                f"It collides with {quote(one.title)}, {_in_words(one.span, zone)}."
                for one in collisions
            ),
            *(["The user has never written to who invites them."] if is_stranger else []),
        ],
    )
    tool = suggest.offer_answer(invitation)
    return Brief(
        agent=roster.EVENT_READER,
        item_id=event.id,
        basis=invitation.seen.basis,
        request=prompts.render_arrival(
            {
                "event_id": event.id,
                "title": event.title,
                "from": event.created_by,
                "first_contact": is_stranger,
                "begins": clock.show(times[0].starts_at, zone),
                "ends": clock.show(times[0].ends_at, zone),
                "repeats": bool(event.recurrence) or None,
                "place": event.location or None,
                "attendees": len(event.attendees),
                "text": event.description[:TEXT_LIMIT],
                "collides_with": [
                    {
                        "title": one.title,
                        "begins": clock.show(one.starts_at, zone),
                        "ends": clock.show(one.ends_at, zone),
                    }
                    for one in collisions
                ],
                "free_instead": [
                    {"number": number, "begins": clock.show(begins, zone)}
                    for number, (begins, _) in enumerate(free, start=1)
                ],
            }
        ),
        tools={tool.name: tool},
    )


def own_addresses(user: Person) -> frozenset[str]:
    return frozenset(one.address.casefold() for one in user.accounts if one.address)


def _is_unanswered(event: Event, arrival: Arrival) -> bool:
    """Whether somebody else invites the user, by the address that is answered from there, and they
    have answered by none."""
    own, here = own_addresses(arrival.user), arrival.account.address.casefold()
    invited = {one.email.casefold() for one in event.attendees}
    answers = {one.status for one in event.attendees if one.email.casefold() in own}
    by_other = event.created_by and event.created_by.casefold() not in own
    return bool(by_other and here in invited and answers <= UNANSWERED)


def _meetings(user: Person, since: datetime, until: datetime) -> tuple[Meeting, ...]:
    return agenda.list_meetings(
        account_ids=[one.id for one in user.accounts],
        own=own_addresses(user),
        since=since,
        until=until,
    )


def find_times(account_id: UUID, event_id: str, *, now: datetime) -> list[Meeting]:
    """When an event takes the user's time from now on, the first time first. One query."""
    found = agenda.list_times(account_id=account_id, source_id=event_id, since=now)
    times = [one for one in found if not one.all_day]
    ahead = max(now, times[0].starts_at) + SERIES_AHEAD if times else now
    return [one for one in times if one.starts_at < ahead]


def find_collisions(user: Person, times: Sequence[Meeting]) -> list[Meeting]:
    """What else takes the user's time then, each once."""
    own = {one.item_id for one in times}
    others: dict[Span, Meeting] = {}
    for one in times[: 2 * MOST_COLLISIONS]:
        for other in _meetings(user, one.starts_at, one.ends_at):
            if other.item_id not in own and not other.free:
                others.setdefault(other.span, other)
    return [others[span] for span in sorted(others)][:MOST_COLLISIONS]


def render_basis(times: Sequence[Meeting], collisions: Sequence[Meeting]) -> str:
    """When it is first, and what it collides with: other text where a suggestion is out of date."""
    spans = [(one.starts_at, one.ends_at) for one in (times[0], *collisions)]
    said = repr([(begins.isoformat(), ends.isoformat()) for begins, ends in spans])
    return hashlib.sha256(said.encode()).hexdigest()


def _free(arrival: Arrival, first: Meeting, event: Event) -> list[Span]:
    """Times of the same length near it, in the user's working hours, when nothing else is."""
    length, user = first.ends_at - first.starts_at, arrival.user
    if event.recurrence or not QUARTER <= length <= LONGEST:
        return []
    since, until = max(arrival.now, first.starts_at - NEAR), first.starts_at + NEAR
    meetings = _meetings(user, since, until)
    if len(meetings) == agenda.MOST_EVENTS:
        return []  # with events left out, time that is taken would be called free
    stretches = agenda.find_free(
        [one.span for one in meetings if not one.free and one.item_id != first.item_id],
        since=since,
        until=until,
        minutes=int(length / timedelta(minutes=1)),
        zone=ZoneInfo(user.time_zone),
        hours={DAYS.index(day): (one.start, one.end) for day, one in user.working_hours.items()},
    )
    begins = [(_rounded(opens), closes) for opens, closes in stretches]
    found = [(at, at + length) for at, closes in begins if at + length <= closes]
    return sorted(sorted(found, key=lambda one: abs(one[0] - first.starts_at))[:MOST_FREE])


def _rounded(moment: datetime) -> datetime:
    over = timedelta(minutes=moment.minute % 15, seconds=moment.second)
    start = moment - over - timedelta(microseconds=moment.microsecond)
    return start if start == moment else start + QUARTER


def _is_stranger(user: Person, organiser: str) -> bool:
    """Whether the user has written to them from none of their mailboxes. Doubt means no."""
    try:
        return bool(user.mailboxes) and all(
            strangers.is_stranger(one, reader(one), organiser) for one in user.mailboxes
        )
    except ProviderError as error:
        if error.retryable:
            raise
        return False


def _in_zone(span: Span, zone: str) -> Span:
    begins, ends = (one.astimezone(ZoneInfo(zone)) for one in span)
    return begins, ends


def _in_words(span: Span, zone: str) -> str:
    begins, ends = _in_zone(span, zone)
    return f"{begins:%a %-d %B, %H:%M} to {ends:%H:%M}"

"""Suggestions that what happened since has made out of date, and invitations that are to be looked
at again: at another time, or in the way of something else by now.

What to compare is in Remit's own rows, so that nothing is asked of model or provider where nothing
changed. One invitation is looked at again a few times a day at most, however often things move.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents.context import people
from agents.contracts import Person
from agents.inbound import events
from agents.journal import suggestions
from agents.journal.suggestions import OF_INVITATIONS, Kind, State
from agents.models import Suggestion, Turn
from integrations.accounts import arrivals, reads
from integrations.contracts import AccountRef, AnyItem, Event, Issue
from integrations.contracts.events import ItemEvent
from integrations.exceptions import NotFound
from integrations.ports.registry import BY_SOURCE
from knowledge.search.listing import ENDED

MOST_LOOKS, PERIOD = 4, timedelta(days=1)  # at one invitation
MOST_COMPARED = 50  # invitations of a user, for one event that arrives


def note(account: AccountRef, item: AnyItem) -> None:
    """An item as it was just read in. Raises ProviderError."""
    if isinstance(item, Event):
        note_calendar(account, item.id, now=timezone.now())
    elif isinstance(item, Issue):
        note_issue(account, item)


def note_turn(account: AccountRef, item: AnyItem) -> None:
    """A turn about it is finished. What came into the calendar while an agent looked at it found no
    suggestion to put out of date. Raises ProviderError."""
    if isinstance(item, Event):
        note_calendar(account, "", now=timezone.now())


def note_calendar(account: AccountRef, event_id: str, *, now: datetime) -> None:
    """Something happened to an event of the user's (empty: to some of them): suggestions about this
    and other invitations that rest on how it was are out of date, and the others come again as
    deliveries. Raises ProviderError."""
    rows = list(
        _of_invitations(account)
        .filter(state=State.OPEN)
        .select_related("account__organisation")[: MOST_COMPARED * 4]
    )
    if not rows:
        return
    user = people.load_person(
        organisation_id=account.organisation_id, external_user_id=account.external_user_id
    )
    for own in _by_item(rows):
        where, item_id = own[0].account.ref(), own[0].item_source_id
        basis = find_basis(user, where, item_id, now=now) if user else ""
        stale = [row for row in own if row.basis != basis]
        if not stale:
            continue
        is_this = (where.id, item_id) == (account.id, event_id)
        event = None if is_this or not basis else _again(where, item_id, now=now)
        looks = _looks(where, item_id, now=now)
        with transaction.atomic():
            # What is taken up just now ends as it will: the provider is asked for this version.
            if suggestions.retire(stale) and event and looks < MOST_LOOKS:
                # The process that works on what arrives finds it when this one is finished.
                arrivals.store(where, f"again {looks} {basis}", event, enqueue=_found_by_itself)


def is_due(account: AccountRef, item_id: str, basis: str, *, now: datetime) -> bool:
    """Whether an invitation that was looked at before is to be looked at again."""
    rows = Suggestion.objects.filter(
        account_id=account.id, item_source_id=item_id, kind__in=OF_INVITATIONS
    )
    last = rows.order_by("-created_at", "-id").first()
    if last is None or last.basis == basis or rows.filter(state=State.OPEN).exists():
        return False
    return _looks(account, item_id, now=now) < MOST_LOOKS


def find_basis(user: Person, account: AccountRef, item_id: str, *, now: datetime) -> str:
    """What a suggestion about an invitation rests on now. Empty: nothing can be suggested, because
    it is over, gone or answered."""
    times = events.find_times(account.id, item_id, now=now)
    own = events.own_addresses(user)
    if not times or not {s for a, _, s in times[0].attendees if a in own} <= events.UNANSWERED:
        return ""
    return events.render_basis(times, events.find_collisions(user, times))


def note_issue(account: AccountRef, issue: Issue) -> None:
    """A new version of an issue: what somebody has set since is not suggested any more; the rest is
    suggested about the issue as it is now. Raises ProviderError."""
    rows = list(
        Suggestion.objects.filter(
            account_id=account.id, item_source_id=issue.id, state=State.OPEN, action_id=None
        )
    )
    if not rows:
        return
    try:
        present = issue if issue.revision else reads.reader(account).issue(issue.key)  # type: ignore[attr-defined]  # a tracker's
    except NotFound:
        suggestions.retire(rows)
        return
    suggestions.retire(row for row in rows if not _still_fits(row, present))
    Suggestion.objects.filter(pk__in=[row.pk for row in rows], state=State.OPEN).update(
        revision=present.revision
    )


def note_deleted(account: AccountRef, item_id: str, *, is_event: bool) -> None:
    """Nothing can be done about what is gone. Raises ProviderError."""
    suggestions.retire(Suggestion.objects.filter(account_id=account.id, item_source_id=item_id))
    if is_event:
        note_calendar(account, item_id, now=timezone.now())


def _still_fits(row: Suggestion, issue: Issue) -> bool:
    if issue.status.casefold() in ENDED:
        return False
    present = {
        Kind.COMPONENT: "".join(issue.components),
        Kind.LABEL: "".join(issue.labels),
        Kind.PRIORITY: issue.priority or "",
        Kind.DUPLICATE: issue.duplicate_of or "",
    }
    return present[Kind(row.kind)] == row.basis


def _of_invitations(account: AccountRef) -> "QuerySet[Suggestion]":
    """In all calendars of the user, the newest first."""
    return Suggestion.objects.filter(
        account__organisation_id=account.organisation_id,
        account__external_user_id=account.external_user_id,
        kind__in=OF_INVITATIONS,
    ).order_by("-created_at")


def _by_item(rows: Iterable[Suggestion]) -> Sequence[Sequence[Suggestion]]:
    found: dict[tuple[UUID, str], list[Suggestion]] = {}
    for row in rows:
        found.setdefault((row.account_id, row.item_source_id), []).append(row)
    return list(found.values())[:MOST_COMPARED]


def _looks(account: AccountRef, item_id: str, *, now: datetime) -> int:
    return Turn.objects.filter(
        account_id=account.id,
        item_source_id=item_id,
        kind__in=(Turn.Kind.INBOUND, Turn.Kind.AGAIN),
        created_at__gte=now - PERIOD,
    ).count()


def _again(account: AccountRef, item_id: str, *, now: datetime) -> ItemEvent | None:
    """It as it is, to be delivered once more; None where it is gone."""
    try:
        item = reads.reader(account).item(item_id)
    except NotFound:
        return None
    return ItemEvent(
        kind="updated",
        user_id=account.external_user_id,
        source=account.source,
        source_id=item.id,
        content_type=BY_SOURCE[account.source].content_type,
        data=item.model_dump(mode="json", by_alias=True, exclude={"revision"}),
        timestamp=now,
    )


def _found_by_itself(delivery_id: UUID) -> None:
    """`agents.inbound.reactions.react_side_by_side` goes on to what waits."""

"""Where events are kept, as far as Remit has seen them."""

from collections.abc import Mapping, Sequence

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound
from integrations.models import CalendarPlace
from integrations.providers.calendars.ids import event_id, place_id


def find_place(account: AccountRef, id: str) -> CalendarPlace:
    """Raises NotFound for an event that Remit has never seen."""
    row = CalendarPlace.objects.filter(account_id=account.id, event_id=place_id(id)).first()
    if row is None:
        raise NotFound("Remit has not seen this event")
    return row


def remember(account: AccountRef, ids: Mapping[str, Sequence[str]]) -> None:
    """By path: which events Remit has seen there. Which version of them that was is for `changes`
    to note."""
    places = {event_id(path): path for path in ids}
    CalendarPlace.objects.bulk_create(
        [CalendarPlace(account_id=account.id, event_id=id, path=places[id]) for id in places],
        ignore_conflicts=True,
    )
    for row in CalendarPlace.objects.filter(account_id=account.id, event_id__in=places):
        parts = sorted({*row.parts, *ids[row.path]})
        if parts != row.parts:
            CalendarPlace.objects.filter(pk=row.pk).update(parts=parts)

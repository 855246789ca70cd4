"""One step of a look at calendars."""

from collections.abc import Sequence
from dataclasses import dataclass

from integrations.models import CalendarMark, CalendarPlace
from integrations.providers import item_events


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What happened in one calendar, or a part of it: events, each with a name of its own that is
    the same however often it is seen. Keep what is known in one transaction with them."""

    events: tuple[item_events.Event, ...] = ()
    places: tuple[CalendarPlace, ...] = ()
    mark: CalendarMark | None = None
    lost: CalendarMark | None = None  # of a calendar that is not there any more

    def keep(self) -> None:
        CalendarPlace.objects.bulk_create(
            self.places,
            update_conflicts=True,
            unique_fields=["account", "event_id"],
            update_fields=["etag", "parts", "changes"],
        )
        if self.mark:
            CalendarMark.objects.update_or_create(
                account_id=self.mark.account_id,
                path=self.mark.path,
                defaults={"token": self.mark.token, "link": self.mark.link},
            )
        if self.lost:
            self.lost.delete()


def joined(
    looks: Sequence[Looked], *, mark: CalendarMark | None = None, lost: CalendarMark | None = None
) -> Looked:
    return Looked(
        events=tuple(event for one in looks for event in one.events),
        places=tuple(row for one in looks for row in one.places),
        mark=mark,
        lost=lost,
    )

"""Calendars.

One of a series (an occurrence) has an id of its own, also where the provider keeps none for it:
the series' id, `_`, and its planned start as a RECURRENCE-ID (RFC 5545) in UTC, of a whole day the
date: `event-1_20261127T090000Z`, `event-1_20261127`. The planned start is that of the series' rule,
whatever became of this one since. Every method takes such an id where it takes an event's, and
then reads, changes or cancels this one alone; the series and the others stay as they are. One that
was changed before is the same under this id or under that which the provider gave it.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Literal, Protocol, runtime_checkable

from integrations.contracts import AnyItem, Event, Named, Page
from integrations.ports.account import Reader, Writer

Answer = Literal["accepted", "tentative", "declined"]
# An answer to an invitation, and another time beside it.
Reply = Literal["answer", "time"]


def occurrence_id(series_id: str, start: datetime | date) -> str:
    """The id of the one of a series that is planned for this moment (with its zone), or day."""
    if isinstance(start, datetime):
        return f"{series_id}_{start.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    return f"{series_id}_{start:%Y%m%d}"


@runtime_checkable
class CalendarReader(Reader, Protocol):
    def calendars(self) -> tuple[Named, ...]:
        """The user's calendars; none where the provider does not tell one from another."""
        ...

    def items_in_window(
        self, *, since: datetime, cursor: str | None, limit: int, until: datetime | None = None
    ) -> Page[AnyItem]:
        """Events that take place since then and begin before `until`, give or take a day; and
        every series that began before it, because one of its events may."""
        ...

    def event(self, event_id: str) -> Event:
        """The event with this very id. Of one of a series: its own times, no `recurrence`, and
        the series in `series_id`, with a revision that a write to it must find. Raises NotFound
        where the series has none at that time, or the provider cannot tell one from the others."""
        ...

    def replies(self, event: Event) -> frozenset[Reply]:
        """What who invites can hear from there: nothing else is to be suggested. `event` is as
        the provider gave it, with its revision."""
        ...


@runtime_checkable
class CalendarWriter(Writer, Protocol):
    def create_event(self, fields: Mapping[str, Any], *, key: str) -> dict[str, Any]: ...
    def change_event(
        self, event_id: str, changes: Mapping[str, Any], *, revision: str | None, key: str
    ) -> dict[str, Any]:
        """`changes` may have the `status` “confirmed”: one that was cancelled takes place again.
        Raises Rejected where the provider cannot change one of a series alone."""
        ...

    def cancel_event(self, event_id: str, *, revision: str | None, key: str) -> dict[str, Any]:
        """The event is gone. One of a series is cancelled and can still be read; the answer then
        has its `revision`."""
        ...

    def answer_event(
        self,
        event_id: str,
        answer: Answer,
        *,
        proposed: tuple[str, str] | None,
        revision: str | None,
        key: str,
    ) -> dict[str, Any]:
        """The user's own answer to an invitation of somebody else's, who gets word of it, with
        another time that suits the user (begin and end, with their zone). Raises Rejected where
        the user is not invited, the provider tells the other nothing, or takes no such time."""
        ...

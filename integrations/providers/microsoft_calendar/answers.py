"""What Microsoft Graph answers about calendars, as far as Remit reads it (v1.0). Pure."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from integrations.providers.microsoft.answers import (
    AddressSaid,
    BodySaid,
    MarkSaid,
    OrNone,
    RecipientSaid,
    Said,
)

Kind = Literal["singleInstance", "occurrence", "exception", "seriesMaster"]


class When(Said):
    """Local in its zone; in UTC where no other was asked for."""

    at: str = Field(default="", alias="dateTime")
    zone: str | None = Field(default=None, alias="timeZone")


class Answered(Said):
    how: str | None = Field(default=None, alias="response")


class AttendeeSaid(Said):
    mail: AddressSaid = Field(default=AddressSaid(), alias="emailAddress")
    kind: str | None = Field(default=None, alias="type")
    status: Answered | None = None


class PlaceSaid(Said):
    name: str | None = Field(default=None, alias="displayName")


class PatternSaid(Said):
    kind: str = Field(alias="type")
    interval: int = 1
    month: int = 0
    day_of_month: int = Field(default=0, alias="dayOfMonth")
    days: Annotated[tuple[str, ...], OrNone] = Field(default=(), alias="daysOfWeek")
    first_day: str | None = Field(default=None, alias="firstDayOfWeek")
    index: str | None = None


class RangeSaid(Said):
    kind: str = Field(alias="type")
    ends: date | None = Field(default=None, alias="endDate")
    times: int | None = Field(default=None, alias="numberOfOccurrences")


class RecurrenceSaid(Said):
    pattern: PatternSaid
    range: RangeSaid


class MeetingSaid(Said):
    url: str | None = Field(default=None, alias="joinUrl")


class EventSaid(Said):
    """An event, a series, or one of a series. `etag` names this version of it. A series asked for
    by its id has `changed`, those of it that were changed by themselves, and `left_out`, those that
    were cancelled."""

    id: str = Field(min_length=1, max_length=512)
    etag: str = Field(default="", alias="@odata.etag", max_length=500)
    kind: Kind | None = Field(default=None, alias="type")
    series: str | None = Field(default=None, alias="seriesMasterId", max_length=512)
    title: str | None = Field(default=None, alias="subject")
    body: BodySaid | None = None
    place: PlaceSaid | None = Field(default=None, alias="location")
    start: When = When()
    end: When = When()
    zone: str | None = Field(default=None, alias="originalStartTimeZone")
    planned: AwareDatetime | None = Field(default=None, alias="originalStart")
    of_days: bool | None = Field(default=None, alias="isAllDay")
    is_cancelled: bool | None = Field(default=None, alias="isCancelled")
    is_own: bool | None = Field(default=None, alias="isOrganizer")
    is_unsent: bool | None = Field(default=None, alias="isDraft")
    hides_people: bool | None = Field(default=None, alias="hideAttendees")
    takes_times: bool | None = Field(default=None, alias="allowNewTimeProposals")
    is_online: bool | None = Field(default=None, alias="isOnlineMeeting")
    meeting: MeetingSaid | None = Field(default=None, alias="onlineMeeting")
    organizer: RecipientSaid | None = None
    attendees: Annotated[tuple[AttendeeSaid, ...], OrNone] = ()
    answered: Answered | None = Field(default=None, alias="responseStatus")
    recurrence: RecurrenceSaid | None = None
    created: AwareDatetime | None = Field(default=None, alias="createdDateTime")
    updated: AwareDatetime | None = Field(default=None, alias="lastModifiedDateTime")
    changed: Annotated[tuple["EventSaid", ...], OrNone] = Field(
        default=(), alias="exceptionOccurrences"
    )
    left_out: Annotated[tuple[str, ...], OrNone] = Field(default=(), alias="cancelledOccurrences")
    marks: Annotated[tuple[MarkSaid, ...], OrNone] = Field(
        default=(), alias="singleValueExtendedProperties"
    )


class EventsSaid(Said):
    """A page. What cannot be read hides nothing else, so its rows are read one by one."""

    value: tuple[dict[str, Any], ...] = ()
    next_link: str | None = Field(default=None, alias="@odata.nextLink")


class ChangedSaid(Said):
    """A row of changes: of one of a series, it says of which."""

    id: str = Field(min_length=1, max_length=512)
    series: str | None = Field(default=None, alias="seriesMasterId", max_length=512)


class ChangesSaid(Said):
    value: tuple[ChangedSaid, ...] = ()
    next_link: str | None = Field(default=None, alias="@odata.nextLink")
    delta_link: str | None = Field(default=None, alias="@odata.deltaLink")


class CalendarSaid(Said):
    id: str = Field(min_length=1, max_length=400)
    name: str | None = None
    owner: AddressSaid | None = None
    can_edit: bool | None = Field(default=None, alias="canEdit")
    is_default: bool | None = Field(default=None, alias="isDefaultCalendar")


class CalendarsSaid(Said):
    value: tuple[CalendarSaid, ...] = ()
    next_link: str | None = Field(default=None, alias="@odata.nextLink")

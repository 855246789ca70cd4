"""What Google Calendar answers, as far as Remit reads it (its discovery document, calendar v3).
Pure."""

from datetime import date, datetime
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field


class Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class When(Said):
    """A day, or a moment."""

    day: date | None = Field(default=None, alias="date")
    at: AwareDatetime | None = Field(default=None, alias="dateTime")
    zone: str = Field(default="", alias="timeZone")


class Person(Said):
    """`is_self`: the calendar that the event is in is this one's."""

    email: str = ""
    name: str = Field(default="", alias="displayName")
    answered: str = Field(default="", alias="responseStatus")
    is_self: bool = Field(default=False, alias="self")


class Extended(Said):
    private: dict[str, str] = {}


class EventSaid(Said):
    """An event, a series, or one of a series that was changed by itself (`series`)."""

    id: str = Field(min_length=1, max_length=700)
    etag: str = Field(default="", max_length=500)
    status: str = "confirmed"
    title: str = Field(default="", alias="summary")
    description: str = ""
    location: str = ""
    created: datetime | None = None
    updated: datetime | None = None
    creator: Person = Person()
    organizer: Person | None = None
    start: When = When()
    end: When = When()
    recurrence: tuple[str, ...] = ()
    series: str = Field(default="", alias="recurringEventId", max_length=700)
    planned: When = Field(default=When(), alias="originalStartTime")
    attendees: tuple[Person, ...] = ()
    people_left_out: bool = Field(default=False, alias="attendeesOmitted")
    meet_link: str | None = Field(default=None, alias="hangoutLink")
    extended: Extended = Field(default=Extended(), alias="extendedProperties")

    @property
    def is_gone(self) -> bool:
        return self.status == "cancelled"


class EventsSaid(Said):
    """A page. What cannot be read hides nothing else, so its rows are read one by one."""

    items: tuple[dict[str, Any], ...] = ()
    next_page: str | None = Field(default=None, alias="nextPageToken")
    next_token: str = Field(default="", alias="nextSyncToken", max_length=1000)


class CalendarSaid(Said):
    id: str = Field(min_length=1, max_length=250)
    name: str = Field(default="", alias="summary")
    own_name: str = Field(default="", alias="summaryOverride")
    access: str = Field(default="", alias="accessRole")
    primary: bool = False
    zone: str = Field(default="UTC", alias="timeZone")


class CalendarsSaid(Said):
    items: tuple[CalendarSaid, ...] = ()
    next_page: str | None = Field(default=None, alias="nextPageToken")

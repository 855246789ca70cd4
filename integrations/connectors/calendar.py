"""Google Calendar, through the data service."""

from datetime import datetime, timedelta

from integrations.connectors.base import Connector
from integrations.contracts import AnyItem, Event, Page
from integrations.ports import Reader


def _list(reader: Reader, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
    """The window is about when events take place, not about when they were written down."""
    return reader.events(since=None, cursor=cursor, limit=limit, start_date=since.date())


def _changes(reader: Reader, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
    return reader.events(since=since, cursor=cursor, limit=limit)


CONNECTOR = Connector(
    source="calendar",
    label="Google Calendar",
    content_type="event",
    item_type=Event,
    window=timedelta(days=30),
    path="/events",
    list_items=_list,
    list_changes=_changes,
    history=lambda reader, since, cursor, limit: reader.history(
        source="calendar", since=since, cursor=cursor, limit=limit
    ),
)

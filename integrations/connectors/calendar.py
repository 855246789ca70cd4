"""Google Calendar, through the data service."""

from datetime import timedelta

from integrations.connectors.base import Connector
from integrations.contracts import Event

CONNECTOR = Connector(
    source="calendar",
    label="Google Calendar",
    content_type="event",
    item_type=Event,
    window=timedelta(days=30),
    list_items=lambda reader, since, cursor, limit: reader.events(
        since=since, cursor=cursor, limit=limit
    ),
    history=lambda reader, since, cursor, limit: reader.history(
        source="calendar", since=since, cursor=cursor, limit=limit
    ),
)

"""Events that an operator read in from a calendar file (`manage.py import_calendar`)."""

from datetime import timedelta

from integrations.connectors.base import Connector
from integrations.contracts import Event

CONNECTOR = Connector(
    source="calendar_file",
    label="Imported calendar",
    content_type="event",
    item_type=Event,
    window=timedelta(days=400),
)

"""Gmail, through the data service."""

from datetime import timedelta

from integrations.connectors.base import Connector
from integrations.contracts import Email

CONNECTOR = Connector(
    source="gmail",
    label="Gmail",
    content_type="email",
    item_type=Email,
    window=timedelta(days=30),
    list_items=lambda reader, since, cursor, limit: reader.emails(
        since=since, cursor=cursor, limit=limit
    ),
    history=lambda reader, since, cursor, limit: reader.history(
        source="gmail", since=since, cursor=cursor, limit=limit
    ),
)

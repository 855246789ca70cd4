"""Google Drive, through the data service."""

from datetime import timedelta

from integrations.connectors.base import Connector
from integrations.contracts import Document

CONNECTOR = Connector(
    source="gdrive",
    label="Google Drive",
    content_type="document",
    item_type=Document,
    window=timedelta(days=183),
    list_items=lambda reader, since, cursor, limit: reader.documents(
        since=since, cursor=cursor, limit=limit
    ),
    history=lambda reader, since, cursor, limit: reader.history(
        source="gdrive", since=since, cursor=cursor, limit=limit
    ),
)

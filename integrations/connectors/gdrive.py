"""Google Drive, through the data service."""

from datetime import datetime, timedelta

from integrations.connectors.base import Connector
from integrations.contracts import AnyItem, Document, Page
from integrations.ports import Reader


def _list(reader: Reader, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
    return reader.documents(since=since, cursor=cursor, limit=limit)


CONNECTOR = Connector(
    source="gdrive",
    label="Google Drive",
    content_type="document",
    item_type=Document,
    window=timedelta(days=183),
    path="/documents",
    list_items=_list,
    list_changes=_list,
    history=lambda reader, since, cursor, limit: reader.history(
        source="gdrive", since=since, cursor=cursor, limit=limit
    ),
)

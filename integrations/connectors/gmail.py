"""Gmail, through the data service."""

from datetime import datetime, timedelta

from integrations.connectors.base import Connector
from integrations.contracts import AnyItem, Email, Page
from integrations.ports import Reader


def _list(reader: Reader, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
    return reader.emails(since=since, cursor=cursor, limit=limit)


CONNECTOR = Connector(
    source="gmail",
    label="Gmail",
    content_type="email",
    item_type=Email,
    window=timedelta(days=30),
    path="/emails",
    list_items=_list,
    list_changes=_list,
    history=lambda reader, since, cursor, limit: reader.history(
        source="gmail", since=since, cursor=cursor, limit=limit
    ),
    starts_turns=True,
)

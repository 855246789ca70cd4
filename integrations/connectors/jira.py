"""Jira, through the data service."""

from datetime import datetime, timedelta

from integrations.connectors.base import Connector
from integrations.contracts import AnyItem, Issue, Page
from integrations.ports import Reader


def _list(reader: Reader, since: datetime, cursor: str | None, limit: int) -> Page[AnyItem]:
    return reader.issues(since=since, cursor=cursor, limit=limit)


CONNECTOR = Connector(
    source="jira",
    label="Jira",
    content_type="issue",
    item_type=Issue,
    window=timedelta(days=92),
    path="/jira/issues",
    list_items=_list,
    list_changes=_list,
    history=lambda reader, since, cursor, limit: reader.history(
        source="jira", since=since, cursor=cursor, limit=limit
    ),
)

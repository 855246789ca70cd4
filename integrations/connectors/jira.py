"""Jira, through the data service."""

from datetime import timedelta

from integrations.connectors.base import Connector
from integrations.contracts import Issue

CONNECTOR = Connector(
    source="jira",
    label="Jira",
    content_type="issue",
    item_type=Issue,
    window=timedelta(days=92),
    list_items=lambda reader, since, cursor, limit: reader.issues(
        since=since, cursor=cursor, limit=limit
    ),
    history=lambda reader, since, cursor, limit: reader.history(
        source="jira", since=since, cursor=cursor, limit=limit
    ),
)

"""GitHub issues, through the data service. Read and never written to."""

from datetime import timedelta

from integrations.connectors.base import provided
from integrations.contracts import Issue

CONNECTOR = provided(
    source="github",
    label="GitHub",
    content_type="issue",
    item_type=Issue,
    window=timedelta(days=92),
)

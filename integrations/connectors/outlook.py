"""Outlook mail, through the data service. Read and never written to."""

from datetime import timedelta

from integrations.connectors.base import provided
from integrations.contracts import Email

CONNECTOR = provided(
    source="outlook",
    label="Outlook",
    content_type="email",
    item_type=Email,
    window=timedelta(days=30),
)

"""Slack messages, through the data service. Read and never written to."""

from datetime import timedelta

from integrations.connectors.base import provided
from integrations.contracts import ChatMessage

CONNECTOR = provided(
    source="slack",
    label="Slack",
    content_type="message",
    item_type=ChatMessage,
    window=timedelta(days=30),
)

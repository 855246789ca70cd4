"""Mail that an operator read in from a file or a mail server (`manage.py import_mailbox`)."""

from datetime import timedelta

from integrations.connectors.base import Connector
from integrations.contracts import Email

CONNECTOR = Connector(
    source="mailbox",
    label="Imported mail",
    content_type="email",
    item_type=Email,
    window=timedelta(days=30),
)

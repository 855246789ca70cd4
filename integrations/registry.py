"""Every connector Remit has: one file each in `connectors/`, one line each here."""

from integrations.connectors import (
    calendar,
    calendar_file,
    gdrive,
    github,
    gmail,
    jira,
    mailbox,
    mcp,
    outlook,
    slack,
)
from integrations.connectors.base import Connector

CONNECTORS: tuple[Connector, ...] = (
    gmail.CONNECTOR,
    gdrive.CONNECTOR,
    calendar.CONNECTOR,
    jira.CONNECTOR,
    outlook.CONNECTOR,
    github.CONNECTOR,
    slack.CONNECTOR,
    mailbox.CONNECTOR,
    calendar_file.CONNECTOR,
    mcp.CONNECTOR,
)
BY_SOURCE = {connector.source: connector for connector in CONNECTORS}
# Those that the data service has, and that a sync reads.
PROVIDED = tuple(connector.source for connector in CONNECTORS if connector.list_items)


def source_choices() -> list[tuple[str, str]]:
    return [(connector.source, connector.label) for connector in CONNECTORS]

"""Every connector Remit has: one file each in `connectors/`, one line each here."""

from integrations.connectors import calendar, gdrive, gmail, jira
from integrations.connectors.base import Connector

CONNECTORS: tuple[Connector, ...] = (
    gmail.CONNECTOR,
    gdrive.CONNECTOR,
    calendar.CONNECTOR,
    jira.CONNECTOR,
)
BY_SOURCE = {connector.source: connector for connector in CONNECTORS}


def source_choices() -> list[tuple[str, str]]:
    return [(connector.source, connector.label) for connector in CONNECTORS]

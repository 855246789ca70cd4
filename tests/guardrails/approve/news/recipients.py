"""Recipients, added as the admin does."""

from typing import Any

from guardrails.approve.news import recipients
from guardrails.models import ApprovalRecipient
from tests.guardrails.office import Office


def add(office: Office, address: str, kind: str = "mail", **values: Any) -> ApprovalRecipient:
    values = {"organisation": office.organisation, "name": address[:100]} | values
    row = ApprovalRecipient(kind=kind, **values)
    recipients.save(row, address=address, by="operator:olga")
    return row

"""The mark that what Remit writes carries: the key of its write, in a property that others are not
shown. Pure."""

from collections.abc import Iterable
from typing import Any

from integrations.providers.microsoft.answers import MarkSaid

MARK_ID = "String {6f1c2b0e-3d0a-4b52-9d4b-7a2f6d1e8c35} Name RemitAction"
EXPANDED = f"singleValueExtendedProperties($filter=id eq '{MARK_ID}')"


def field(key: str) -> dict[str, Any]:
    """As it is written."""
    return {"singleValueExtendedProperties": [{"id": MARK_ID, "value": key}]}


def having(key: str) -> str:
    """The filter for what the write with this key made."""
    wanted = f"ep/id eq '{MARK_ID}' and ep/value eq '{quoted(key)}'"
    return f"singleValueExtendedProperties/Any(ep: {wanted})"


def quoted(text: str) -> str:
    return text.replace("'", "''")


def mark_of(said: Iterable[MarkSaid]) -> str:
    """The key; empty for what is none of Remit's."""
    return next((one.value or "" for one in said if one.id.casefold() == MARK_ID.casefold()), "")

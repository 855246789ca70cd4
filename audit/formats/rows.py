"""What an exported row holds, in which order, and what a format has to give."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from audit.models import ExecutedAgentAction

COLUMNS = tuple(field.attname for field in ExecutedAgentAction._meta.concrete_fields)
CONTENT = ("artifacts", "payload", "resource_id", "target_id")
HEADER = (*COLUMNS, *CONTENT, "salt")
Row = Mapping[str, Any]


class Encoder(Protocol):
    """One file in one format: `head`, then its pages of rows, then `tail`."""

    def head(self) -> bytes: ...
    def page(self, rows: Sequence[Row]) -> bytes: ...
    def tail(self) -> bytes: ...

"""Exports for people outside: CSV and JSON Lines, streamed, with a manifest.

An export holds every phase of every action that matches, as the ledger stood when it was
asked for. It is recorded in the ledger itself: once when it starts, once when it ends. CSV
is for reading and never evidence: cells that a spreadsheet would run are neutralised.
"""

import csv
import hashlib
import io
import json
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from audit import chain, events, selectors
from audit.contracts import ActorType, Filters, Status
from audit.ids import uuid7
from audit.models import ExecutedAgentAction

Format = Literal["csv", "jsonl"]
CONTENT_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
}
ACTION_TYPE = "ledger.export"
COLUMNS = tuple(field.attname for field in ExecutedAgentAction._meta.concrete_fields)
CONTENT = ("artifacts", "payload", "resource_id", "target_id")
HEADER = (*COLUMNS, *CONTENT, "salt")
# What makes a spreadsheet take a cell for a formula, full-width forms included.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What an export holds. `sha256` is over every byte before the manifest itself."""

    export_id: UUID
    format: Format
    tenant_id: UUID
    filters: dict[str, Any]
    generated_at: datetime
    snapshot: str
    rows: int
    sha256: str

    def line(self) -> bytes:
        return chain.canonical_bytes({"manifest": chain.storable(asdict(self))}) + b"\n"


class Export:
    """One export. Making it records its start and fixes what it holds; iterating over it
    (once) gives its bytes and records its end, as succeeded or, if the reader goes away,
    as failed. `manifest` is there afterwards; a JSON Lines export ends with it.

    Raises audit.ledger.LedgerError when the start cannot be recorded: nothing is exported.
    """

    def __init__(
        self, *, filters: Filters, format: Format, actor_type: ActorType, actor_id: str
    ) -> None:
        self.id = uuid7()
        self.filters = filters
        self.format = format
        self.actor_type = actor_type
        self.actor_id = actor_id
        self.snapshot, self.generated_at = selectors.snapshot()
        self.content_type = CONTENT_TYPES[format]
        self.suffix = format
        self.rows = 0
        self.digest = hashlib.sha256()
        self.manifest = self.describe()
        self.record("pending")

    def __iter__(self) -> Generator[bytes]:
        try:
            for chunk in self.encoded():
                self.digest.update(chunk)
                yield chunk
        except BaseException:  # also when the reader goes away
            self.record("failed", error_code="interrupted")
            raise
        self.record("succeeded")
        if self.format == "jsonl":
            yield self.manifest.line()

    def encoded(self) -> Iterator[bytes]:
        if self.format == "csv":
            yield csv_lines([HEADER])
        for page in selectors.pages(selectors.every_phase(self.filters, snapshot=self.snapshot)):
            self.rows += len(page)
            lines = [exported(row) for row in page]
            if self.format == "csv":
                yield csv_lines([cells(line) for line in lines])
            else:
                yield b"".join(chain.canonical_bytes(line) + b"\n" for line in lines)

    def describe(self) -> Manifest:
        return Manifest(
            export_id=self.id,
            format=self.format,
            tenant_id=self.filters.tenant_id,
            filters=self.filters.chosen(),
            generated_at=self.generated_at,
            snapshot=self.snapshot,
            rows=self.rows,
            sha256=self.digest.hexdigest(),
        )

    def record(self, status: Status, *, error_code: str = "") -> None:
        self.manifest = self.describe()
        record(
            export_id=self.id,
            tenant_id=self.filters.tenant_id,
            actor_type=self.actor_type,
            actor_id=self.actor_id,
            status=status,
            error_code=error_code,
            manifest=asdict(self.manifest),
        )


def record(
    *,
    export_id: UUID,
    tenant_id: UUID,
    actor_type: ActorType,
    actor_id: str,
    status: Status,
    error_code: str,
    manifest: dict[str, Any],
) -> None:
    """One row about an export. Raises audit.ledger.LedgerError when it is not recorded."""
    events.record(
        ACTION_TYPE,
        tenant_id=tenant_id,
        action_id=export_id,
        status=status,
        actor_type=actor_type,
        actor_id=actor_id,
        error_code=error_code,
        payload={"manifest": manifest},
    )


def exported(row: ExecutedAgentAction) -> dict[str, Any]:
    """A row as it is exported: with its payload and salt, its commitment can be checked."""
    opened = selectors.opened(row)
    content = json.loads(opened[1]) if opened else dict.fromkeys(CONTENT)
    line = {name: getattr(row, name) for name in COLUMNS} | content
    line["salt"] = opened[0].hex() if opened else None
    plain: dict[str, Any] = chain.storable(line)
    return plain


def cells(line: dict[str, Any]) -> list[str]:
    return [cell(line[name]) for name in HEADER]


def cell(value: object) -> str:
    """`value` as a cell that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else chain.canonical_bytes(value).decode()
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULA) else text


def csv_lines(rows: list[Any]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()

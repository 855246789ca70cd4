"""Exports for people outside, streamed, with a manifest.

An export has every phase of every action that matches, as the ledger stood when it was
asked for. It is recorded in the ledger itself: once when it starts, once when it ends.
"""

import hashlib
import logging
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import connections, router

from audit.contracts import ActorType, Filters, LedgerError, Status
from audit.formats import stored
from audit.formats.parquet import Parquet
from audit.formats.rows import Encoder
from audit.formats.text import Csv, JsonLines, OcsfLines
from audit.ledger import chain, events, queries
from audit.ledger.ids import uuid7
from audit.ledger.routing import LEDGER

Format = Literal["csv", "jsonl", "ocsf", "parquet"]
# A further format is a further line. The first of each is its media type, then its suffix.
FORMATS: dict[Format, tuple[str, str, Callable[[], Encoder]]] = {
    "csv": ("text/csv; charset=utf-8", "csv", Csv),
    "jsonl": ("application/x-ndjson", "jsonl", JsonLines),
    "ocsf": ("application/x-ndjson", "ocsf.jsonl", OcsfLines),
    "parquet": ("application/vnd.apache.parquet", "parquet", Parquet),
}
ACTION_TYPE = "ledger.export"

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What is in an export. `sealed`: how many rows of the organisation were sealed in its
    snapshot; rows behind them are in it unsealed. `sha256` is over every byte before the manifest
    itself."""

    export_id: UUID
    format: Format
    tenant_id: UUID
    filters: dict[str, Any]
    generated_at: datetime
    snapshot: str
    sealed: int
    rows: int
    sha256: str

    def line(self) -> bytes:
        return chain.canonical_bytes({"manifest": chain.storable(asdict(self))}) + b"\n"


class Export:
    """One export. Making it records its start and fixes what is in it; iterating over it
    (once) gives its bytes and records its end (`recording_its_end`). `manifest` is there
    afterwards; a JSON Lines export ends with it.

    Raises audit.contracts.LedgerError when the start cannot be recorded: nothing is exported;
    and NoParquet.
    """

    def __init__(
        self, *, filters: Filters, format: Format, actor_type: ActorType, actor_id: str
    ) -> None:
        self.id = uuid7()
        self.filters = filters
        self.format = format
        self.actor_type = actor_type
        self.actor_id = actor_id
        self.snapshot = queries.take_snapshot(filters.tenant_id)
        self.generated_at = self.snapshot.at
        self.content_type, self.suffix, encoder = FORMATS[format]
        self.encoder = encoder()
        self.rows = 0
        self.digest = hashlib.sha256()
        self.manifest = self.describe()
        self.record("pending")

    def __iter__(self) -> Generator[bytes]:
        yield from recording_its_end(self.chunks(), self.record)
        if self.format == "jsonl":
            yield self.manifest.line()

    def chunks(self) -> Iterator[bytes]:
        for chunk in filter(None, self.encoded()):
            self.digest.update(chunk)
            yield chunk

    def encoded(self) -> Iterator[bytes]:
        yield self.encoder.head()
        rows = queries.select_every_phase(self.filters, snapshot=self.snapshot.text)
        until = self.snapshot.written_until  # a replica that got there has the same rows
        rows = rows.using(router.db_for_read(rows.model, written_until=until))
        for number, page in stored.pages(rows, self.encoder, tenant_id=self.filters.tenant_id):
            self.rows += number
            yield page
        yield self.encoder.tail()

    def describe(self) -> Manifest:
        return Manifest(
            export_id=self.id,
            format=self.format,
            tenant_id=self.filters.tenant_id,
            filters=self.filters.chosen(),
            generated_at=self.generated_at,
            snapshot=self.snapshot.text,
            sealed=self.snapshot.sealed,
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


def recording_its_end(chunks: Iterator[bytes], record: Callable[..., None]) -> Generator[bytes]:
    """`chunks`, then `record("succeeded")`. Whatever breaks that off is recorded as failed and
    raised: the reader going away, the database, or that success could not be recorded. Where even
    the failure cannot be recorded, the ledger shows an export that has not ended.
    """
    try:
        yield from chunks
        record("succeeded")
    except BaseException:
        connections[LEDGER].close_if_unusable_or_obsolete()  # a new session can say it
        try:
            record("failed", error_code="interrupted")
        except LedgerError as error:
            log.error("ledger.export_end_not_recorded: %s", error)
        raise


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
    """One row about an export. Raises audit.contracts.LedgerError when it is not recorded."""
    events.record(
        ACTION_TYPE,
        tenant_id=tenant_id,
        after_end=True,
        action_id=export_id,
        status=status,
        actor_type=actor_type,
        actor_id=actor_id,
        error_code=error_code,
        payload={"manifest": manifest},
    )

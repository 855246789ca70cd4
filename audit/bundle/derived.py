"""A bundle's rows once more, for reading: as CSV and as OCSF events. Derived from what is
sealed, and no evidence themselves."""

from collections.abc import Iterator
from typing import Any

from audit.bundle.rows import SealedRows
from audit.formats import ocsf, stored
from audit.formats.rows import SEALED, Encoder, Row, Text
from audit.formats.text import Csv, OcsfLines
from audit.ledger.lines import LINE
from audit.seals.merkle import leaf_hash

NAMES = ("derived/ledger.csv", "derived/ocsf.jsonl")


class PlacedEvents(OcsfLines):
    """Events that name the place of their row."""

    text = Text(f"a.leaf_index || ' ' || {LINE}", SEALED.delimiter, SEALED.quote)

    def event(self, row: Row) -> dict[str, Any]:
        place, _, line = row.line.partition(b" ")
        sealed = {"leaf_index": int(place), "leaf_hash": leaf_hash(line).hex()}
        return ocsf.event(row._replace(line=line).columns() | sealed)


def files(rows: SealedRows) -> Iterator[tuple[str, Iterator[bytes]]]:
    table, events = NAMES
    yield table, encoded(Csv(), rows)
    yield events, encoded(PlacedEvents(), rows)


def encoded(encoder: Encoder, rows: SealedRows) -> Iterator[bytes]:
    yield encoder.head()
    for places in rows.pages():
        yield stored.at_places(places, encoder, tenant_id=rows.tenant_id)

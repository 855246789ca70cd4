"""A bundle's rows once more, for reading: as CSV and as OCSF events. Derived from what is
sealed, and no evidence themselves."""

import json
from collections.abc import Iterator
from typing import Any

from audit import ocsf
from audit.bundle.rows import SealedRows
from audit.formats.rows import Encoder, Row
from audit.formats.text import Csv, OcsfLines
from audit.merkle import leaf_hash


class PlacedEvents(OcsfLines):
    """Events that name the place of their row. They come from the first row on."""

    def __init__(self, rows: SealedRows) -> None:
        self.places = iter(rows.places)

    def event(self, row: Row) -> dict[str, Any]:
        sealed = {"leaf_index": next(self.places), "leaf_hash": leaf_hash(row.line.encode()).hex()}
        return ocsf.event(row.columns() | sealed)


NAMES = ("derived/ledger.csv", "derived/ocsf.jsonl")


def files(rows: SealedRows) -> Iterator[tuple[str, Iterator[bytes]]]:
    table, events = NAMES
    yield table, encoded(Csv(), rows)
    yield events, encoded(PlacedEvents(rows), rows)


def encoded(encoder: Encoder, rows: SealedRows) -> Iterator[bytes]:
    yield encoder.head()
    for lines, payloads in zip(rows.lines(), rows.payloads(), strict=True):
        held = {one["row_id"]: one for one in map(json.loads, payloads.splitlines())}
        page = []
        for line in lines.decode().split("\n")[:-1]:
            content = held.get(json.loads(line)["id"], {})
            page.append(Row(line, content.get("body"), content.get("salt")))
        yield encoder.page(page)

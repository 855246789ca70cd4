"""A bundle's rows once more, for reading: as CSV and as OCSF events. Derived from what is
sealed, and no evidence themselves."""

import json
from collections.abc import Iterator
from typing import Any

from audit.bundle.rows import SealedRows
from audit.formats.rows import CONTENT, Encoder
from audit.formats.text import Csv, OcsfLines
from audit.merkle import leaf_hash

ERASED = dict.fromkeys((*CONTENT, "salt"))
FILES: dict[str, type[Csv | OcsfLines]] = {
    "derived/ledger.csv": Csv,
    "derived/ocsf.jsonl": OcsfLines,
}


def files(rows: SealedRows) -> Iterator[tuple[str, Iterator[bytes]]]:
    for name, encoder in FILES.items():
        yield name, encoded(encoder(), rows)


def encoded(encoder: Encoder, rows: SealedRows) -> Iterator[bytes]:
    yield encoder.head()
    for page in exported(rows):
        yield encoder.page(page)


def exported(rows: SealedRows) -> Iterator[list[dict[str, Any]]]:
    """The rows as an export has them, with their places."""
    for places, lines, payloads in zip(rows.pages(), rows.lines(), rows.payloads(), strict=True):
        held = {one["row_id"]: content(one) for one in map(json.loads, payloads.splitlines())}
        page = []
        for place, line in zip(places, lines.splitlines(), strict=True):
            row = json.loads(line)
            sealed = {"leaf_index": place, "leaf_hash": leaf_hash(line).hex()}
            page.append(row | held.get(row["id"], ERASED) | sealed)
        yield page


def content(payload: dict[str, Any]) -> dict[str, Any]:
    return {**json.loads(payload["body"]), "salt": payload["salt"]}

"""Parquet, for warehouses: typed columns, written a row group at a time. It needs the extra
`parquet` (pyarrow); without it the format is refused with a sentence."""

import json
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Any

from audit.formats.pipe import Pipe
from audit.formats.rows import COLUMNS, HEADER, SEALED, Row
from audit.ledger.sentences import say

try:
    import pyarrow
    from pyarrow import parquet
except ImportError:  # the extra is not installed
    pyarrow = parquet = None

ROW_GROUP = 5_000  # rows; held in memory until they are written
BATCH = 250  # rows that are Python's objects at a time
NUMBERS = {
    "id": "int64",
    "attempt_no": "int16",
    "schema_version": "int16",
    "latency_ms": "int32",
    "target_row": "int64",
}
TIMES = ("occurred_at", "recorded_at")


class NoParquet(Exception):
    """pyarrow is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "Parquet needs the package pyarrow, which is not installed here: "
            "pip install 'pyarrow>=21'. CSV and JSON Lines need nothing."
        )


def is_installed() -> bool:
    """Whether this format is available here."""
    return pyarrow is not None


class Parquet:
    """Raises NoParquet. Ids are text, times UTC with microseconds; payload and artifacts are
    canonical JSON."""

    text = SEALED

    def __init__(self) -> None:
        if pyarrow is None:
            raise NoParquet
        self.pipe = Pipe()
        self.batches: list[Any] = []
        self.schema = pyarrow.schema([(name, column_type(name)) for name in HEADER])
        # Dictionaries suit codes and ids; a payload is its own.
        repeated = [name for name in COLUMNS if name not in ("payload_commitment", "envelope_mac")]
        self.writer = parquet.ParquetWriter(
            self.pipe, self.schema, compression="zstd", use_dictionary=repeated
        )

    def head(self) -> bytes:
        return self.pipe.drain()

    def page(self, rows: Iterable[Row]) -> bytes:
        left = map(values, rows)
        while some := list(islice(left, BATCH)):
            columns = [list(column) for column in zip(*some, strict=True)]
            self.batches.append(pyarrow.record_batch(columns, schema=self.schema))
            if sum(batch.num_rows for batch in self.batches) >= ROW_GROUP:
                self.write()
        return self.pipe.drain()

    def tail(self) -> bytes:
        self.write()
        self.writer.close()
        return self.pipe.drain()

    def write(self) -> None:
        if self.batches:
            self.writer.write_table(pyarrow.Table.from_batches(self.batches))
            self.batches = []


def column_type(name: str) -> Any:
    if name in TIMES:
        return pyarrow.timestamp("us", tz="UTC")
    return pyarrow.type_for_alias(NUMBERS.get(name, "string"))


def values(row: Row) -> list[Any]:
    columns = row.columns()
    for name in TIMES:
        columns[name] = datetime.fromisoformat(columns[name])
    artifacts, payload, *ids = row.content()
    whole = [None if text == b"null" else text.decode() for text in (artifacts, payload)]
    salt = row.salt and row.salt.decode()
    about, sentence = say(columns["action_type"], columns["status"], row.payload())
    words = (sentence, about)
    return [*words, *map(columns.get, COLUMNS), *whole, *map(json.loads, ids), salt]

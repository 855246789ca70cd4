"""Formats of one line a row: canonical JSON, OCSF events and CSV."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from audit import chain, ocsf
from audit.formats.rows import COLUMNS, HEADER, Row

# What makes a spreadsheet take a cell for a formula, full-width forms included.
FORMULA = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
in_order = itemgetter(*COLUMNS)


class JsonLines:
    def head(self) -> bytes:
        return b""

    def page(self, rows: Sequence[Row]) -> bytes:
        return "".join([f"{row.canonical()}\n" for row in rows]).encode()

    def tail(self) -> bytes:
        return b""


class OcsfLines(JsonLines):
    """Events for tools that read many sources: codes and ids, no payload."""

    def page(self, rows: Sequence[Row]) -> bytes:
        return b"".join([chain.canonical_bytes(self.event(row)) + b"\n" for row in rows])

    def event(self, row: Row) -> dict[str, Any]:
        return ocsf.event(row.columns())


class Csv:
    """For people. Never evidence: cells that a spreadsheet would run are neutralised."""

    def head(self) -> bytes:
        return csv_lines([HEADER])

    def page(self, rows: Sequence[Row]) -> bytes:
        return csv_lines(map(cells, rows))

    def tail(self) -> bytes:
        return b""


def cells(row: Row) -> list[object]:
    columns = row.columns()
    artifacts, payload, *ids = row.content()
    whole = ["" if text == "null" else text for text in (artifacts, payload)]
    return [
        *map(cell, in_order(columns)),
        *whole,
        *(cell(json.loads(one)) for one in ids),
        row.salt,
    ]


def cell(value: object) -> object:
    """`value` as a cell that no spreadsheet takes for a formula."""
    if isinstance(value, str) and value[:1] in FORMULA:
        return f"'{value}"
    return value


def csv_lines(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()

"""Formats of one line a row: canonical JSON, OCSF events and CSV."""

import csv
import io
from collections.abc import Iterable, Sequence

from audit import chain, ocsf
from audit.formats.rows import HEADER, Row

# What makes a spreadsheet take a cell for a formula, full-width forms included.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


class JsonLines:
    def head(self) -> bytes:
        return b""

    def page(self, rows: Sequence[Row]) -> bytes:
        return b"".join([chain.canonical_bytes(row) + b"\n" for row in rows])

    def tail(self) -> bytes:
        return b""


class OcsfLines(JsonLines):
    """Events for tools that read many sources: codes and ids, no payload."""

    def page(self, rows: Sequence[Row]) -> bytes:
        return super().page([ocsf.event(row) for row in rows])


class Csv:
    """For people. Never evidence: cells that a spreadsheet would run are neutralised."""

    def head(self) -> bytes:
        return csv_lines([HEADER])

    def page(self, rows: Sequence[Row]) -> bytes:
        return csv_lines([[cell(row[name]) for name in HEADER] for row in rows])

    def tail(self) -> bytes:
        return b""


def cell(value: object) -> str:
    """`value` as a cell that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    return str(value) if type(value) is int else chain.canonical_bytes(value).decode()


def csv_lines(rows: Iterable[Iterable[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()

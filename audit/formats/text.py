"""Formats of one line a row: canonical JSON, OCSF events and CSV."""

import csv
import io
import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeVar

from django.db import models

from audit.formats import ocsf
from audit.formats.rows import COLUMNS, CONTENT, HEADER, SEALED, Row, Text
from audit.ledger import chain, lines
from audit.ledger.sentences import say
from audit.models import ExecutedAgentAction

# What makes a spreadsheet take a cell for a formula, full-width forms included.
FORMULA = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
# `cell` of a text, by PostgreSQL.
CELL = "CASE WHEN ascii({0}) = ANY('{{{codes}}}') THEN '''' || {0} ELSE {0} END"
CODES = ",".join(str(ord(mark)) for mark in sorted(FORMULA))
Value = TypeVar("Value")
CSV_LINE = b"%b,%b,%b,%b,%b,%b,%b,%b\r\n"
NOTHING = (b"",) * (len(CONTENT) + 1)
ACTION_TYPE, STATUS = COLUMNS.index("action_type"), COLUMNS.index("status")


class JsonLines:
    text = SEALED

    def head(self) -> bytes:
        return b""

    def page(self, rows: Iterable[Row]) -> bytes:
        return b"".join([row.canonical() + b"\n" for row in rows])

    def tail(self) -> bytes:
        return b""


class OcsfLines(JsonLines):
    """Events for tools that read many sources: codes and ids, no payload."""

    def page(self, rows: Iterable[Row]) -> bytes:
        return b"".join([chain.canonical_bytes(self.event(row)) + b"\n" for row in rows])

    def event(self, row: Row) -> dict[str, Any]:
        return ocsf.event(row.columns())


def column(field: Any) -> str:
    """The cell of a column, by PostgreSQL: the text that the sealed line has, neutralised."""
    name = field.attname
    stored = lines.FORMS.get(name, "{}").format(f'a."{name}"')
    if field.null:
        return f"coalesce({stored}::text, '')"
    if isinstance(field, models.TextField) and name not in lines.FORMS:
        return CELL.format(stored, codes=CODES)
    return stored


class Csv:
    """For people. Never evidence: cells that a spreadsheet would run are neutralised. PostgreSQL
    makes the cells of the columns, which are a row's line."""

    text = Text(", ".join(map(column, ExecutedAgentAction._meta.concrete_fields)))

    def head(self) -> bytes:
        return csv_lines([HEADER])

    def page(self, rows: Iterable[Row]) -> bytes:
        return b"".join([csv_line(row) for row in rows])

    def tail(self) -> bytes:
        return b""


def csv_line(row: Row) -> bytes:
    cells = cells_of(row.line)
    artifacts, payload, resource_id, target_id = row.content()
    held = {} if row.body is None else json.loads(payload)
    about, sentence = say(cells[ACTION_TYPE], cells[STATUS], held)
    words = quoted(cell(sentence).encode()), quoted(cell(about).encode())
    if row.body is None:
        return CSV_LINE % (*words, row.line, *NOTHING)
    ids = identifier(resource_id), identifier(target_id)
    return CSV_LINE % (*words, row.line, quoted(artifacts), quoted(payload), *ids, row.salt)


def cells_of(line: bytes) -> list[str]:
    text = line.decode()
    return next(csv.reader([text])) if '"' in text else text.split(",")


@lru_cache(maxsize=256)  # the phases of an action are about the same thing
def identifier(text: bytes) -> bytes:
    """The cell of a text in JSON."""
    return quoted(cell(str(json.loads(text))).encode())


def quoted(text: bytes) -> bytes:
    """As PostgreSQL and csv.writer do it: where it is needed."""
    if b'"' in text or b"," in text or b"\n" in text or b"\r" in text:
        return b'"%b"' % text.replace(b'"', b'""')
    return text


def cell(value: Value) -> Value | str:
    """`value` as a cell that no spreadsheet takes for a formula."""
    if isinstance(value, str) and value[:1] in FORMULA:
        return f"'{value}"
    return value


def csv_lines(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()

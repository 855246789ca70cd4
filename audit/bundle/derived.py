"""What people read of a bundle's rows: a table, and a report in words. The verifier makes both
again from the rows that it has proven, so a word that was altered shows."""

from collections.abc import Iterable, Iterator
from typing import Any

from audit.bundle.rows import SealedRows
from audit.bundle.verify import REPORT, TABLE, Report
from audit.formats import stored
from audit.formats.rows import SEALED, Row
from audit.formats.text import Csv

NAMES = (TABLE, REPORT)


class Narration:
    """Gives rows to a report, page by page."""

    text = SEALED

    def __init__(self, report: Report) -> None:
        self.report = report

    def head(self) -> bytes:
        return b""

    def page(self, rows: Iterable[Row]) -> bytes:
        for row in rows:
            self.report.add(row.columns(), row.payload())
        return b""

    def tail(self) -> bytes:
        return self.report.text().encode()


def files(rows: SealedRows, manifest: dict[str, Any]) -> Iterator[tuple[str, Iterator[bytes]]]:
    for name, encoder in ((TABLE, Csv()), (REPORT, Narration(Report(manifest)))):
        yield name, encoded(encoder, rows)


def encoded(encoder: Csv | Narration, rows: SealedRows) -> Iterator[bytes]:
    yield encoder.head()
    for places in rows.pages():
        yield from stored.at_places(places, encoder, tenant_id=rows.tenant_id)
    yield encoder.tail()

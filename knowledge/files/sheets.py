"""Spreadsheets (xlsx, xls, ods), by calamine: the values of all sheets, row by row."""

import zipfile
from collections.abc import Iterator
from typing import IO

from knowledge.files.archives import refuse_bombs
from knowledge.files.contracts import MAX_ROWS
from knowledge.files.exceptions import Cut, Encrypted


def read(file: IO[bytes]) -> Iterator[str]:
    import python_calamine  # noqa: PLC0415  # see pdf.read

    if zipfile.is_zipfile(file):
        file.seek(0)
        refuse_bombs(file)
    file.seek(0)
    try:
        workbook = python_calamine.load_workbook(file)
    except python_calamine.PasswordError as error:
        raise Encrypted from error
    rows = 0
    for name in workbook.sheet_names:
        yield f"{name}\n"
        for row in workbook.get_sheet_by_name(name).iter_rows():
            rows += 1
            if rows > MAX_ROWS:
                raise Cut
            cells = [_render(cell) for cell in row]
            if any(cells):
                yield " | ".join(cells).strip(" |") + "\n"
        yield "\n"


def _render(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return " ".join(str(cell).split())

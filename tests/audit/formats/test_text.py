import csv
import io

import pytest
from django.db import connections
from hypothesis import given, strategies as st

from audit.formats import text as formats


@given(
    st.text() | st.sampled_from(sorted(formats.FORMULA)).flatmap(lambda c: st.text().map(c.__add__))
)
def test_no_cell_can_start_a_formula_and_no_text_is_lost(text: str) -> None:
    (row,) = list(
        csv.reader(
            io.StringIO(formats.csv_lines([[formats.cell(text), "next"]]).decode(), newline="")
        )
    )
    assert row[0][:1] not in formats.FORMULA
    assert row[0].removeprefix("'") == text.removeprefix("'")
    assert row[1] == "next"


@pytest.mark.django_db(databases=["ledger"])
def test_postgresql_neutralises_as_python_does_whatever_a_text_begins_with() -> None:
    with connections["ledger"].cursor() as cursor:
        cursor.execute(
            f"""
            SELECT array_agg(code) FROM generate_series(1, 1114111) AS code,
                   LATERAL (SELECT chr(code) || 'x' AS text) AS a
            WHERE code NOT BETWEEN 55296 AND 57343
              AND {formats.CELL.format("a.text", codes=formats.CODES)} <> a.text
            """
        )
        (found,) = cursor.fetchone()
        cursor.execute("SELECT " + formats.CELL.format("''", codes=formats.CODES))
        assert cursor.fetchone() == ("",)
    every = (code for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000)
    assert found == [code for code in every if formats.cell(f"{chr(code)}x") != f"{chr(code)}x"]
    assert found == sorted(map(ord, formats.FORMULA))

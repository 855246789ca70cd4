import csv
import io

from hypothesis import given
from hypothesis import strategies as st

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

import json
from typing import Any
from uuid import UUID

import pytest
from django.db import connections
from hypothesis import given, strategies as st

from audit.ledger import chain, lines

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
# A row that exists nowhere: its columns from JSON.
WRITTEN = (
    f"SELECT {lines.LINE}, {lines.ESCAPED}, {lines.IS_PLAIN} "
    "FROM json_populate_record(NULL::audit_action, %s) AS a"
)
ROW: dict[str, Any] = dict.fromkeys(lines.TEXTS, "") | {
    "account_id": None,
    "action_id": UUID(int=7),
    "attempt_no": 1,
    "id": 2**53 + 1,
    "latency_ms": None,
    "occurred_at": "2026-11-22T13:00:00.120000Z",
    "parent_action_id": None,
    "recorded_at": "2026-11-22T13:00:00.000000Z",
    "schema_version": 1,
    "target_row": None,
    "tenant_id": UUID(int=8),
    "xact": "18446744073709551615",
}
EVERY = "".join(chr(code) for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000)
storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
harmless = st.text("abcXYZ019 ./:_-é€😀")
texts = st.one_of(
    harmless, harmless, harmless, storable, st.text('\\"\n\r\t\b\f\x1f\x7f\u2028,:{}a')
)
rows = st.fixed_dictionaries(
    dict.fromkeys(lines.TEXTS, texts)
    | {
        "account_id": st.none() | st.uuids(),
        "action_id": st.uuids(),
        "attempt_no": st.integers(1, 2**15 - 1),
        "id": st.integers(1, 2**63 - 1),
        "latency_ms": st.none() | st.integers(0, 2**31 - 1),
        "parent_action_id": st.none() | st.uuids(),
        "target_row": st.none() | st.integers(1, 2**63 - 1),
    }
).map(lambda given: ROW | given)
few = st.lists(st.sampled_from(lines.TEXTS), max_size=2)


def written(row: dict[str, Any]) -> tuple[str, str, bool]:
    assert sorted(row) == sorted(lines.COLUMNS)
    with connections["ledger"].cursor() as cursor:
        cursor.execute(WRITTEN, [json.dumps(row, default=str)])
        line, escaped, is_plain = cursor.fetchone()
    return line, escaped, is_plain


def said_of(row: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if type(value) is UUID else value for name, value in row.items()}


@given(row=rows, kept=few)
def test_a_line_is_one_text_whichever_way_it_is_written(row: dict[str, Any], kept: Any) -> None:
    for given_row in (row, row | dict.fromkeys(set(lines.TEXTS) - {*kept}, "")):
        line, escaped, is_plain = written(given_row)
        assert line == escaped
        assert json.loads(line) == said_of(given_row)
        has_escapes = any(
            json.dumps(given_row[name], ensure_ascii=False) != f'"{given_row[name]}"'
            for name in lines.TEXTS
        )
        assert is_plain is not has_escapes


def test_every_character_is_written_as_canonical_json_has_it() -> None:
    line, escaped, is_plain = written(ROW | {"actor_id": EVERY})
    assert line == escaped
    assert f'"actor_id":{chain.canonical(EVERY)},' in line
    assert not is_plain
    plain = "".join(sign for sign in EVERY if sign >= " " and sign not in '"\\')
    line, escaped, is_plain = written(ROW | {"actor_id": plain})
    assert line == escaped
    assert is_plain


@pytest.mark.parametrize("name", lines.TEXTS)
def test_each_sign_in_any_column_is_escaped(name: str) -> None:
    for sign in [*map(chr, range(1, 32)), '"', "\\"]:
        line, escaped, is_plain = written(ROW | {name: f"a{sign}b"})
        assert (line, is_plain) == (escaped, False)
        assert json.loads(line)[name] == f"a{sign}b"

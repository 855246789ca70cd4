"""verify.py reads a row without JSON where it can, and never otherwise than JSON would."""

import json
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from audit.bundle import verify
from audit.contracts import Artifact
from audit.ledger import chain
from audit.ledger.lines import COLUMNS
from tests.audit.vectors import VECTORS

HOSTILE = (
    *(b'"', b',"', b'","', b',"status":"x"', b',"id":5', b'"id":5,', b"\\", b'\\"', b"{", b"}"),
    *(b" ", b"\n", b"\x00", b"\x1f", b"\x7f", b"\xff", b"null", b"0", b"-", b"1e3", b"[]", b"true"),
)
TEXTS = st.text(max_size=12) | st.sampled_from(['a","b', ",", ',"', "\\", '"', "\x1f", "\u2028"])
NUMBERS = st.integers(min_value=0, max_value=2**53 - 1)


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column in verify.COLUMNS:
        values: st.SearchStrategy[Any] = NUMBERS if "#" in column else TEXTS
        values = values | st.none() if "?" in column else values
        found[column.rstrip("*#?")] = draw(values)
    return found


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """The line of a row, with some places of it written over or pushed apart."""
    line = written(draw(rows()))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(line)))
        end = draw(st.integers(start, min(len(line), start + 30)))
        line = line[:start] + draw(st.sampled_from(HOSTILE)) + line[end:]
    return line


def written(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()


def plain(**changes: Any) -> dict[str, Any]:
    numbers = {name.rstrip("*#?") for name in verify.COLUMNS if "#" in name}
    return {name: 5 if name in numbers else f"{name} 1" for name in COLUMNS} | changes


@given(lines())
@example(written(plain()))
@example(written(plain()).replace(b'"status":', b'"id":'))
@example(written(plain()).replace(b',"trigger":', b',"status":"x","trigger":'))
@example(written(plain(actor_id=',"actor_type":"')))
@example(written(plain()) + b"\n")
def test_what_is_read_without_json_is_what_json_reads(line: bytes) -> None:
    if found := verify.PLAIN.fullmatch(line):
        pairs = json.loads(line.decode(), object_pairs_hook=list)  # raises for what is no JSON
        assert tuple(name for name, _ in pairs) == COLUMNS
        values = {name: value for name, value in pairs if name in verify.LOOKED_AT}
        assert {name: type(value) for name, value in values.items()} == verify.LOOKED_AT
        assert found.groups() == tuple(str(value).encode() for value in values.values())


@given(rows())
def test_both_ways_give_the_same(row: dict[str, Any]) -> None:
    expected = tuple(str(row[name]).encode() for name in verify.LOOKED_AT)
    assert verify.looked_at(written(row)) == expected


def test_the_columns_are_those_that_are_sealed() -> None:
    assert tuple(column.rstrip("*#?") for column in verify.COLUMNS) == COLUMNS


def test_ordinary_rows_need_no_json() -> None:
    assert verify.PLAIN.fullmatch(written(plain()))
    assert verify.PLAIN.fullmatch(written(plain(account_id=None, latency_ms=None, agent_id="")))
    assert verify.PLAIN.fullmatch(written(plain(latency_ms=0)))


@pytest.mark.parametrize(
    "changes", [{"id": "5"}, {"id": True}, {"id": 5.0}, {"status": None}, {"status": 5}]
)
def test_a_column_of_another_type_is_not_read(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="another type"):
        verify.looked_at(written(plain(**changes)))


def test_artifacts_are_cut_out_of_a_payload_as_json_cuts_them() -> None:
    texts = ['{"external_id":"},{\\"","kind":"],\\"payload\\":"}', '{"external_id":"b"}']
    for count in range(3):
        body = f'{{"artifacts":[{",".join(texts[:count])}],"payload":{{}}}}'
        assert [json.loads(text) for text in texts[:count]] == json.loads(body)["artifacts"]
        assert verify.artifacts_in(body.encode()) == [text.encode() for text in texts[:count]]


@pytest.mark.parametrize(("line", "is_row"), VECTORS["line"]["cases"])
def test_what_is_a_row_is_known(line: str, is_row: bool) -> None:
    try:
        verify.looked_at(line.encode())
    except verify.UNREADABLE:
        assert not is_row
    else:
        assert is_row


@pytest.mark.parametrize("case", VECTORS["integer"]["lines"])
def test_numbers_of_rows_are_read_as_they_are_written(case: dict[str, Any]) -> None:
    _, _, _, attempt_no, row_id, *_ = verify.looked_at(case["line"].encode())
    assert (attempt_no.decode(), row_id.decode()) == (case["attempt_no"], case["row_id"])


def test_erasures_name_rows_exactly() -> None:
    one, case = object.__new__(verify.Verification), VECTORS["integer"]["redaction"]
    one.erased = set()
    assert one.explains(b"redaction", b"redact", b"recorded", case["body"].encode())
    assert [str(row_id) for row_id in sorted(one.erased)] == case["erased"]


@pytest.mark.parametrize("case", VECTORS["payload"]["cases"])
def test_payloads_and_artifacts_give_the_answers_that_are_known(case: dict[str, Any]) -> None:
    row_id, body = str(case["row_id"]).encode(), case["body"].encode()
    one, told = object.__new__(verify.Verification), list[str]()
    row = (b"", b"", b"", b"", row_id, case["commitment"].encode(), b"", b"", b"", b"", b"")
    [given] = verify.Part(iter([case["line"].encode()]), verify.PAYLOAD).of(row_id)
    assert one.payload(row, [given], told) == body
    lines = iter([line.encode() for line in case["artifact_lines"]])
    made = verify.Part(lines, verify.ARTIFACT).of(row_id)
    one.artifacts(case["artifacts_digest"].encode(), made, body, told)
    assert told == []
    assert verify.artifacts_in(body) == [text.encode() for text in case["artifacts"]]
    assert [end[1].decode() for end in made] == case["digests"]


@pytest.mark.parametrize("case", VECTORS["payload"]["cases"])
def test_the_ledger_commits_to_payloads_and_artifacts_as_is_known(case: dict[str, Any]) -> None:
    salt, body = bytes.fromhex(case["salt"]), case["body"].encode()
    assert chain.payload_commitment(salt, body) == case["commitment"]
    artifacts = [Artifact(**json.loads(text)) for text in case["artifacts"]]
    assert [chain.artifact_text(one) for one in artifacts] == case["artifacts"]
    assert [chain.artifact_digest(one) for one in artifacts] == case["digests"]
    assert chain.artifacts_digest(case["digests"]) == case["artifacts_digest"]

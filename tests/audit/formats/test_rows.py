"""Texts are cut and joined without reading them as JSON: that must be exact, whatever a
stranger wrote."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audit.formats.rows import CONTENT, Row
from audit.ledger import chain, lines

KEYS = st.sampled_from(["payload", "resource_id", "target_id", "artifacts", "salt", "x"])
HOSTILE = st.sampled_from(['],"payload":{', ',"resource_id":"', '","target_id":"', "\u2028\\"])
TEXT = st.text() | HOSTILE | st.tuples(st.text(), HOSTILE, st.text()).map("".join)
NESTED = st.recursive(
    TEXT | st.integers(-9, 9) | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS | TEXT, inner),
    max_leaves=8,
)
ARTIFACT = st.fixed_dictionaries({"kind": TEXT, "provider": TEXT, "external_id": TEXT, "url": TEXT})
CONTENTS = st.fixed_dictionaries(
    {
        "artifacts": st.lists(ARTIFACT, max_size=2),
        "payload": st.dictionaries(KEYS | TEXT, NESTED, max_size=4),
        "resource_id": TEXT,
        "target_id": TEXT,
    }
).map(chain.storable)


def line(text: str) -> dict[str, Any]:
    return dict.fromkeys(lines.COLUMNS, text) | {"id": 7, "account_id": None}


@given(content=CONTENTS, text=TEXT.map(chain.visible))
def test_a_body_comes_apart_and_the_whole_row_is_canonical(content: Any, text: str) -> None:
    columns = line(text)
    row = Row(
        line=chain.canonical_bytes(columns),
        body=chain.canonical_bytes(content),
        salt=b"00ff",
    )
    assert row.columns() == columns
    assert [json.loads(part) for part in row.content()] == [content[name] for name in CONTENT]
    whole = columns | content | {"salt": "00ff"}
    assert row.canonical() == chain.canonical_bytes(whole)


def test_what_was_erased_is_null() -> None:
    columns = line("x")
    row = Row(line=chain.canonical_bytes(columns), body=None, salt=None)
    nothing = dict.fromkeys((*CONTENT, "salt"))
    assert row.canonical() == chain.canonical_bytes(columns | nothing)


@pytest.mark.parametrize("body", [b"", b"{}", b'{"payload":{}}', b"[]"])
def test_a_body_of_another_form_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="another form"):
        Row(line=b"{}", body=body, salt=b"").content()

import json
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, strategies as st

from audit.contracts import Artifact
from audit.ledger import chain

SAFE_NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-(2**53) + 1, 2**53 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | SAFE_NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)
# What json.loads gives for any text a stranger may send, and more.
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(categories=None, exclude_categories=())),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(st.characters(exclude_categories=())) | st.integers(), inner)
    ),
    max_leaves=30,
)


def test_canonical_bytes_are_those_of_rfc_8785() -> None:
    value = {
        "numbers": [333333333.33333329, 4.50, 2e-3, 0.000000000000000000000000001, -0.0, 1e-6],
        "string": '€$\x0f\nA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    assert chain.canonical_bytes(value) == (
        b'{"literals":[null,true,false],'
        b'"numbers":[333333333.3333333,4.5,0.002,1e-27,0,0.000001],'
        b'"string":"\xe2\x82\xac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_keys_are_sorted_by_utf16_code_units() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    in_order = json.loads(chain.canonical_bytes(dict.fromkeys(keys)))
    assert list(in_order) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@given(VALUES)
def test_canonical_bytes_survive_a_round_trip(value: Any) -> None:
    text = chain.canonical_bytes(value)
    assert json.loads(text) == value
    assert chain.canonical_bytes(json.loads(text)) == text


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        2**53,
        -(2**53),
        1e300,
        "\ud800",
        {1: 2},
        {1, 2},
        b"",
        object(),
    ],
)
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(chain.NotCanonical):
        chain.canonical_bytes({"here": [value]})


@given(ANYTHING)
def test_storable_makes_a_canonical_form_of_any_data_and_only_once(value: Any) -> None:
    plain = chain.storable(value)
    text = chain.canonical_bytes(plain)
    assert b"\\u0000" not in text
    assert chain.storable(plain) == plain


@given(VALUES)
def test_storable_leaves_alone_what_can_be_stored(value: Any) -> None:
    if b"\\u0000" not in chain.canonical_bytes(value):
        assert chain.storable(value) == value


@given(ANYTHING, st.datetimes(timezones=st.just(UTC)), st.uuids())
def test_stored_is_the_canonical_text_of_what_is_storable(
    value: Any, at: datetime, id: UUID
) -> None:
    whole = {"value": value, "at": at, "id": id, 7: ("a\x00", value), "set": frozenset({1})}
    assert chain.stored(whole) == chain.canonical(chain.storable(whole))


def test_stored_leaves_out_what_is_nested_too_deep() -> None:
    deep: Any = "bottom"
    for _ in range(chain.MAX_DEPTH + 3):
        deep = [{"in": deep}]
    assert chain.stored(deep) == chain.canonical(chain.storable(deep))
    with pytest.raises(TypeError, match="plain data"):
        chain.stored({"here": object()})


def test_storable_shows_what_cannot_be_stored() -> None:
    at = datetime(2026, 3, 1, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    assert chain.storable(
        {"text": "a\x00b\ud83d", "big": 2**60, "nan": math.nan, "at": at, "id": UUID(int=1)}
    ) == {
        "text": "a⟨U+0000⟩b⟨U+D83D⟩",
        "big": "1152921504606846976",
        "nan": "nan",
        "at": "2026-03-01T10:00:00.000000Z",
        "id": "00000000-0000-0000-0000-000000000001",
    }


def test_storable_cuts_what_is_nested_too_deep() -> None:
    value: Any = "end"
    for _ in range(5000):
        value = [value]
    plain = chain.storable(value)
    for _ in range(chain.MAX_DEPTH):
        (plain,) = plain
    assert plain == "⟨left out: nested deeper than 64 levels⟩"


def test_storable_refuses_objects_that_are_no_data() -> None:
    with pytest.raises(TypeError, match="stores plain data, not a object"):
        chain.storable({"here": object()})


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="needs its zone"):
        chain.timestamp(datetime(2026, 1, 1))  # noqa: DTZ001  # the point of the test


def test_commitment_depends_on_salt_and_body() -> None:
    commitments = {
        chain.payload_commitment(salt, body) for salt in (b"a", b"b") for body in (b"{}", b"[]")
    }
    assert len(commitments) == 4


def test_artifacts_digest_is_empty_without_artifacts_and_knows_their_order() -> None:
    one, two = (
        chain.artifact_digest(Artifact(kind="issue", provider="jira", external_id=key))
        for key in ("PROJ-1", "PROJ-2")
    )
    assert chain.artifacts_digest([]) == ""
    assert chain.artifacts_digest([one, two]) != chain.artifacts_digest([two, one])


def test_keyed_ids_are_equal_within_a_tenant_and_differ_between_tenants() -> None:
    maya, omar = (chain.tenant_key("secret", UUID(int=number)) for number in (1, 2))
    assert chain.keyed(maya, "mail-1") == chain.keyed(maya, "mail-1")
    assert chain.keyed(maya, "mail-1") != chain.keyed(omar, "mail-1")
    assert chain.keyed(maya, "") == ""


def test_envelope_mac_changes_with_any_column_and_with_the_key() -> None:
    macs = {
        chain.envelope_mac(key, row)
        for key in (b"one", b"two")
        for row in ({"status": "failed"}, {"status": "succeeded"}, {"statuS": "failed"})
    }
    assert len(macs) == 6


NAMES = ("account_id", "attempt_no", "status", "trigger")


@given(st.tuples(*[st.text() | st.integers(-(2**53) + 1, 2**53 - 1) | st.none() for _ in NAMES]))
def test_flat_of_names_writes_the_canonical_text_of_a_row(values: tuple[Any, ...]) -> None:
    row = dict(zip(NAMES, values, strict=True))
    assert chain.flat_of(NAMES)(values) == chain.canonical(row) == chain.flat(row)


@given(st.lists(st.text(st.characters(categories=None)), min_size=4, max_size=4))
def test_the_text_of_an_artifact_is_its_canonical_form(texts: list[str]) -> None:
    artifact = Artifact(**dict(zip(("kind", "provider", "external_id", "url"), texts, strict=True)))
    assert chain.artifact_text(artifact) == chain.stored(vars(artifact))

import json
from typing import Any

from hypothesis import given, strategies as st

from agents.context.results import CUT, bound_result, count_bytes, fence, render_result

# Long by repetition: to draw each letter takes most of the time.
TEXT = st.builds(lambda part, times: part * times, st.text(max_size=9), st.integers(0, 40))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: (
        st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=20), inner, max_size=8)
    ),
    max_leaves=20,
)
DATA = st.dictionaries(st.text(max_size=20), JSON, max_size=8)


@given(data=DATA, max_bytes=st.integers(100, 4000))
def test_a_result_is_as_it_was_or_within_its_bytes_and_says_that_it_was_cut(
    data: dict[str, Any], max_bytes: int
) -> None:
    found = bound_result(data, max_bytes=max_bytes)

    assert count_bytes(found) <= max_bytes
    assert found == data if count_bytes(data) <= max_bytes else found["cut"] == CUT


def test_long_texts_and_lists_lose_their_ends_and_the_rest_stays() -> None:
    data = {"found": 2, "items": [{"n": n, "text": "x" * 9000} for n in range(2)]}

    found = bound_result(data, max_bytes=17_000)

    assert found["found"] == 2
    assert [item["n"] for item in found["items"]] == [0, 1]
    assert found["items"][0]["text"] == "x" * 8000 + " […]"


def test_what_is_nested_too_deep_is_left_out() -> None:
    data: dict[str, Any] = {"text": "x" * 5000}
    for _ in range(300):
        data = {"more": data}
    assert count_bytes(bound_result(data, max_bytes=1000)) <= 1000


@given(data=DATA)
def test_what_is_shown_is_the_result_without_markup(data: dict[str, Any]) -> None:
    result = {"data": data, "success": True}
    text = render_result(result)
    assert json.loads(text) == result
    assert not {"<", ">"} & set(text)


def test_keys_come_in_one_order_whatever_order_they_came_in() -> None:
    """The database gives them back in another one, and an endpoint's cache wants equal bytes."""
    one, other = {"b": [{"d": 1, "c": 2}], "a": "x"}, {"a": "x", "b": [{"c": 2, "d": 1}]}

    assert fence(one) == fence(other)
    first, second = ({"success": True, "data": data} for data in (one, other))
    assert render_result(first) == render_result(second)

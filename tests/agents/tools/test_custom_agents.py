"""How well an agent suits a query."""

import pytest
from hypothesis import given, strategies as st

from agents.tools.custom_agents import THRESHOLD, rate_suitability

FINANCE = {
    "name": "Financial analyser",
    "description": "Analyses quarterly performance and reports.",
    "capabilities": ["data analysis", "reporting"],
}


@pytest.mark.parametrize(
    ("query", "required", "similarity", "score"),
    [
        ("Q4 performance analysis", [], None, 0.667),
        ("Q4 performance analysis", ["reporting"], None, 0.667),
        ("Q4 performance analysis", ["reporting", "translation"], None, 0.333),
        ("Book a table for lunch", [], None, 0.0),
        ("Book a table for lunch", [], 0.8, 0.8),
        ("What is it?", [], -1.0, 0.0),
        ("", [], None, 0.0),
    ],
)
def test_shared_words_or_meaning_and_what_is_required(
    query: str, required: list[str], similarity: float | None, score: float
) -> None:
    made = rate_suitability(query=query, required=required, similarity=similarity, **FINANCE)  # type: ignore[arg-type]

    assert made == score
    assert (made > THRESHOLD) is (score > 0.3)


@given(
    st.text(max_size=60),
    st.lists(st.text(max_size=10), max_size=3),
    st.one_of(st.none(), st.floats(-2, 2)),
)
def test_it_is_always_a_share(query: str, required: list[str], similarity: float | None) -> None:
    made = rate_suitability(query=query, required=required, similarity=similarity, **FINANCE)  # type: ignore[arg-type]

    assert 0 <= made <= 1

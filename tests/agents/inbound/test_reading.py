from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from agents.inbound.reading import CUT, NO_QUOTE, fit, render_text
from integrations.contracts import Email
from integrations.llm.completions import estimated_tokens

QUOTE = "\nOn Tue, 3 Mar 2026 at 10:01, Ann <ann@example.com> wrote:\n" + "> Old words.\n" * 400


def test_what_fits_is_given_whole_with_its_quote() -> None:
    text = f"Yes, please.\n{QUOTE}"
    assert fit(text, max_tokens=estimated_tokens(text)) == text


def test_the_quote_goes_first() -> None:
    text = "Yes, please. " * 20 + QUOTE
    assert fit(text, max_tokens=100) == ("Yes, please. " * 20).strip() + NO_QUOTE


def test_an_answer_between_quoted_lines_stays() -> None:
    text = f"{QUOTE}Friday suits me.\n{QUOTE}"
    assert fit(text, max_tokens=50) == f"Friday suits me.{NO_QUOTE}"


@pytest.mark.parametrize("sign", ["a", "ä", "字", "😀"])
def test_own_words_are_cut_at_their_end_and_no_sign_in_two(sign: str) -> None:
    found = fit(sign * 1_000 + QUOTE, max_tokens=50)
    assert set(found.removesuffix(CUT)) == {sign}
    assert found.endswith(CUT)
    assert 40 < estimated_tokens(found) <= 50


@given(st.text(max_size=600), st.integers(min_value=20, max_value=60))
def test_no_text_takes_more_than_its_room(text: str, room: int) -> None:
    assert estimated_tokens(fit(text, max_tokens=room)) <= room


def test_html_is_read_as_a_person_would() -> None:
    email = Email(id="m", date=datetime(2026, 3, 2, tzinfo=UTC), body_html="<p>Hi <b>you</b></p>")
    assert render_text(email).strip() == "Hi you"

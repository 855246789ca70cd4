from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from integrations.llm import profiles
from integrations.llm.profiles import profile


@pytest.fixture(autouse=True)
def read_anew() -> None:
    profiles._known.cache_clear()


def test_a_dated_version_is_found_under_the_name_without_the_date() -> None:
    assert profile("gpt-4o-2024-11-20") == profile("gpt-4o-20241120") == profile("gpt-4o")
    assert profile("gpt-4o-mini") != profile("gpt-4o")


def test_a_cost_counts_cached_tokens_at_their_own_price() -> None:
    cost = profile("gpt-4o").cost(prompt_tokens=1_000_000, cached_tokens=400_000, answer_tokens=10)
    assert cost == Decimal("1.50") + Decimal("0.50") + Decimal("0.0001")


def test_a_model_that_nobody_described_costs_what_the_dearest_does() -> None:
    unknown = profile("somebodys-own")
    assert (unknown.price, unknown.answer_price) == (Decimal("2.50"), Decimal("10.00"))
    assert unknown.window == 32_000


def test_a_file_adds_models_and_replaces_single_fields(settings: Any, tmp_path: Path) -> None:
    settings.MODEL_PROFILES = str(tmp_path / "profiles.yaml")
    Path(settings.MODEL_PROFILES).write_text(
        "gpt-4o: {price: 2}\n"
        "llama: {window: 8000, price: 0, cached_price: 0, answer_price: 0, provider: local}\n"
    )
    assert profile("gpt-4o").price == 2
    assert profile("gpt-4o").answer_price == 10
    assert profile("llama").provider == "local"


def test_a_prompt_may_have_four_fifths_of_the_window_and_has_to_fit_the_fallback(
    settings: Any, tmp_path: Path
) -> None:
    settings.MODEL_PROFILES = str(tmp_path / "profiles.yaml")
    free = "price: 0, cached_price: 0, answer_price: 0"
    Path(settings.MODEL_PROFILES).write_text(
        f"small: {{{free}, window: 10000}}\n"
        f"large: {{{free}, window: 100000}}\n"
        f"careful: {{{free}, window: 100000, fallback: small}}\n"
        f"simple: {{{free}, window: 10000, protocol: json}}\n"
    )
    rooms = [profiles.room(name) for name in ("small", "large", "careful", "simple")]
    assert rooms == [8_000, 80_000, 8_000, 7_000]


@pytest.mark.parametrize(
    "text", ["- a", "llama: {window: 8000}", "gpt-4o: {surprise: 1}", "gpt-4o: {price: -1}"]
)
def test_a_file_with_faults_is_refused(settings: Any, tmp_path: Path, text: str) -> None:
    settings.MODEL_PROFILES = str(tmp_path / "profiles.yaml")
    Path(settings.MODEL_PROFILES).write_text(text)
    with pytest.raises(ValidationError):
        profile("gpt-4o")

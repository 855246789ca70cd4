"""With a model that does exactly what an attacker wants, nothing reaches the outside that a
person has not granted; and a defence that blocks everything fails at the twins."""

import re
from collections import Counter

import pytest

from config.local.state import PROJECT_DIR
from tests.attacks.case import Case, Story
from tests.attacks.desk import Desk
from tests.attacks.rows import CASES, list_offices, list_turns, list_twins
from tests.attacks.run import prove_attack, prove_attacks, prove_stories, prove_twin

database = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def say_all(cases: tuple[Case, ...] | tuple[Story, ...]) -> str:
    return f"{cases[0]} and {len(cases) - 1} more" if len(cases) > 1 else str(cases[0])


@database
@pytest.mark.parametrize("cases", list_turns(), ids=say_all)
def test_the_attack_fails(desk: Desk, cases: tuple[Case, ...]) -> None:
    if len(cases) > 1:
        prove_attacks(desk, cases)
    else:
        prove_attack(desk, cases[0])


@database
@pytest.mark.parametrize("case", list_twins(), ids=str)
def test_its_twin_comes_through(desk: Desk, case: Case) -> None:
    prove_twin(desk, case)


@database
@pytest.mark.parametrize("stories", list_offices(), ids=say_all)
def test_the_attack_fails_and_its_twin_comes_through(
    desk: Desk, stories: tuple[Story, ...]
) -> None:
    prove_stories(desk, stories)


def test_no_two_cases_have_the_same_name() -> None:
    assert [name for name, count in Counter(map(str, CASES)).items() if count > 1] == []


def test_the_manual_counts_the_attacks() -> None:
    manual = (PROJECT_DIR / "docs" / "guardrails.md").read_text(encoding="utf-8")
    section = manual.partition("## Attacks we test\n")[2].partition("\n## ")[0]
    written = {
        row: int(count)
        for row, count in re.findall(r"^\| (.+) \| (\d+) \|$", section, re.MULTILINE)
    }

    tried = Counter[str]()
    for case in CASES:
        tried[case.row] += case.attacks if isinstance(case, Story) else 1
    assert written == tried
    assert sum(written.values()) >= 200

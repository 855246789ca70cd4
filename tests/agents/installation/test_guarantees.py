"""How a trial says what became of it."""

import pytest

from agents.installation import running
from agents.installation.guarantees import Broken, NotApplicable, attempt, expect


def a_promise(found: object) -> None:
    """Two lines
    are one promise."""
    if isinstance(found, Exception):
        raise found
    expect("It was", found, 1)


@pytest.mark.parametrize(
    ("found", "verdict", "said"),
    [
        (1, "PASS", ""),
        (2, "FAIL", "It was: 2 instead of 1."),
        (Broken("No."), "FAIL", "No."),
        (NotApplicable("Nothing is there."), "n/a", "Nothing is there."),
        (ValueError("x"), "FAIL", "The trial broke off: ValueError: x"),
    ],
)
def test_a_trial_passes_only_where_it_returns(found: object, verdict: str, said: str) -> None:
    result = attempt(a_promise, found)

    assert (result.verdict, result.found) == (verdict, said)
    assert (result.name, result.promise) == ("a_promise", "Two lines are one promise.")


def test_every_guarantee_has_a_name_of_its_own_and_a_promise() -> None:
    assert len(set(running.NAMES)) == len(running.NAMES) >= 30
    assert all(trial.__doc__ for trial in (*running.HERE, *running.IN_AN_OFFICE))

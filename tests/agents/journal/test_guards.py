import random
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from agents.contracts import CallRecord, ErrorCode
from agents.journal.guards import (
    BROKEN,
    PastCall,
    canonical,
    find_circle,
    find_duplicate,
    find_resting,
    find_resting_tools,
    find_skill,
    list_items,
)

NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
PASSING = ("EXECUTION_FAILED", "NETWORK_ERROR", "RATE_LIMIT", "NOT_FOUND", "INVALID_INPUT")


def made(round: int = 1, *, ago: float = 1, **values: Any) -> PastCall:
    given = {"tool": "look", "identity": "x", "round": round, **values}
    return PastCall(at=NOW - timedelta(seconds=ago), **given)


def code(result: Any) -> ErrorCode | None:
    return result.code if result else None


@pytest.mark.parametrize(
    ("earlier", "expected"),
    [
        (made(ago=59), "DUPLICATE_CALL"),
        (made(ago=60), None),
        (made(identity="y"), None),
        (made(tool="read"), None),
        (made(open=True), "DUPLICATE_CALL"),
        (made(code="PERMISSION_DENIED"), "DUPLICATE_CALL"),
        (made(code="TIMEOUT"), None),
        (made(code="TIMEOUT", acts=True), "DUPLICATE_CALL"),
        (made(code="DUPLICATE_CALL"), None),
        *((made(code=one, acts=True), None) for one in PASSING),
    ],
)
def test_the_same_call_is_not_run_again_while_its_result_stands(
    earlier: PastCall, expected: str | None
) -> None:
    assert code(find_duplicate(made(2, ago=0), [earlier], NOW)) == expected


def test_a_retry_after_a_failure_is_free_also_when_an_older_one_stands_too_long_ago() -> None:
    before = [made(1, ago=90), made(2, ago=5, code="NETWORK_ERROR")]
    assert find_duplicate(made(3, ago=0), before, NOW) is None


def test_the_fourth_round_of_a_tool_within_two_minutes_is_not_run() -> None:
    before = [made(n, identity=str(n), ago=119) for n in (1, 2, 3)]
    assert find_circle(made(3, ago=0), before[:2], NOW) is None
    assert code(find_circle(made(4, ago=0), before, NOW)) == "TOO_MANY_CALLS"
    assert find_circle(made(4, ago=0, tool="read"), before, NOW) is None


def test_calls_side_by_side_are_one_round() -> None:
    before = [made(1, identity=str(n)) for n in range(20)]
    assert find_circle(made(2, ago=0), before, NOW) is None


def test_old_rounds_and_refused_ones_do_not_count() -> None:
    before = [made(1, ago=120), made(2), made(3), made(4, code="TOO_MANY_CALLS")]
    assert find_circle(made(5, ago=0), before, NOW) is None


def test_work_done_is_no_loop_and_failing_at_it_is_one() -> None:
    done = [made(n, repeats=True) for n in range(1, 9)]
    failed = [made(n, repeats=True, code="PERMISSION_DENIED") for n in (9, 10, 11)]
    assert find_circle(made(12, repeats=True), done + failed[:2], NOW) is None
    assert code(find_circle(made(12, repeats=True), done + failed, NOW)) == "TOO_MANY_CALLS"


@pytest.mark.parametrize("broken", sorted(BROKEN))
def test_a_tool_that_broke_three_rounds_in_a_row_rests(broken: str) -> None:
    before = [made(n, identity=str(n), code=broken, ago=20 - n) for n in (1, 2, 3)]
    assert find_resting_tools(before, NOW) == {"look"}
    assert code(find_resting(made(4, ago=0, identity="new"), before, NOW)) == "TOO_MANY_CALLS"
    assert find_resting(made(4, ago=0, tool="read"), before, NOW) is None
    assert find_resting_tools(before, NOW + timedelta(seconds=103)) == frozenset()


@pytest.mark.parametrize(
    "between",
    [
        made(3, code=None),
        made(3, code="PERMISSION_DENIED"),
        made(3, code="INVALID_INPUT"),
    ],
)
def test_a_tool_that_worked_in_between_does_not_rest(between: PastCall) -> None:
    broke = [made(n, code="NETWORK_ERROR") for n in (1, 2, 4, 5)]
    assert find_resting_tools([*broke[:2], between, *broke[2:]], NOW) == frozenset()


def test_a_round_in_which_one_call_worked_is_no_failure() -> None:
    before = [made(n, code="TIMEOUT") for n in (1, 2, 3)] + [made(3)]
    assert find_resting_tools(before, NOW) == frozenset()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(value=JSON, seed=st.integers())
def test_the_form_of_arguments_makes_no_other_call(value: Any, seed: int) -> None:
    shuffle = random.Random(seed)
    assert canonical(varied(value, shuffle), fold=False) == canonical(value, fold=False)
    assert canonical(shouted(value), fold=True) == canonical(value, fold=True)


def varied(value: Any, shuffle: random.Random) -> Any:
    """The same in another form: other order, other white space, empty things beside it."""
    if isinstance(value, str):
        return f" {value}\n"
    if isinstance(value, list):
        items = [varied(item, shuffle) for item in value]
        shuffle.shuffle(items)
        return items
    if isinstance(value, dict):
        pairs = [(key, varied(item, shuffle)) for key, item in value.items()]
        shuffle.shuffle(pairs)
        return dict(pairs) | {"nothing at all": None, "none of them": []}
    return value


def shouted(value: Any) -> Any:
    if isinstance(value, str):
        # Only ASCII: the capitals of other alphabets have no one way back.
        return "".join(char.upper() if char.isascii() else char for char in value)
    if isinstance(value, list):
        return [shouted(item) for item in value]
    if isinstance(value, dict):
        return {key: shouted(item) for key, item in value.items()}
    return value


@pytest.mark.parametrize(
    ("one", "other"), [({"a": "1"}, {"a": "2"}), (["a"], ["a", "b"]), ({"a": 1}, {"b": 1})]
)
def test_other_arguments_are_another_call(one: Any, other: Any) -> None:
    assert canonical(one, fold=True) != canonical(other, fold=True)


def test_what_acts_keeps_its_capitals() -> None:
    assert canonical("Plan", fold=False) != canonical("plan", fold=False)


def test_items_shown_are_read_from_results_whatever_else_stands_there() -> None:
    shown = uuid.uuid4()
    results: list[Any] = [
        {"success": True, "data": {"items": [{"id": str(shown)}, {"id": "no uuid"}, {}, "odd"]}},
        {"success": True, "data": {"items": "odd"}},
        {"success": False, "error": {}},
        None,
    ]
    calls = [
        CallRecord(id=uuid.uuid4(), name="a", arguments="", action_id=uuid.uuid4(), result=result)
        for result in results
    ]
    assert list_items(calls) == {shown}


def test_the_skill_is_the_one_that_was_loaded_last_whatever_else_stands_there() -> None:
    results: list[tuple[str, Any]] = [
        ("load_skill", {"success": True, "data": {"name": "tone", "version": 1}}),
        ("load_skill", {"success": True, "data": {"name": "invoices", "version": 3}}),
        ("load_skill", {"success": False, "error": {}}),
        ("load_skill", {"success": True, "data": "odd"}),
        ("load_skill", None),
        ("look", {"success": True, "data": {"name": "other", "version": 9}}),
    ]
    made = [
        CallRecord(id=uuid.uuid4(), name=name, arguments="", action_id=uuid.uuid4(), result=result)
        for name, result in results
    ]
    assert find_skill(made) == "invoices@3"
    assert find_skill(made[2:]) == ""

"""Hooks around tool calls, through the entrance that the loop uses."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agents.contracts import ToolResult, failure
from agents.journal import guards, journal
from agents.tools import hooks
from agents.tools.base import Tool, ToolContext
from tests.agents.tools.bench import Bench
from tests.agents.tools.test_dispatch import OK, Nothing, ledger_rows, never

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def bench() -> Bench:
    return Bench()


class Counted:
    """A tool that counts its runs and answers what it is set to."""

    def __init__(self, *results: ToolResult, **marks: Any) -> None:
        self.runs, self.results = 0, list(results)
        self.tool = Tool[Any](name="do", description="", arguments=Nothing, run=self.run, **marks)

    def run(self, _context: ToolContext, _arguments: Nothing) -> ToolResult:
        self.runs += 1
        return self.results.pop(0) if self.results else OK


def codes(results: list[dict[str, Any]]) -> list[str | None]:
    return [result.get("error", {}).get("code") for result in results]


def word(text: str, **more: Any) -> str:
    return json.dumps({"word": text, **more})


@pytest.mark.parametrize("acts", [True, False])
def test_the_same_call_is_run_once_whatever_form_it_has(bench: Bench, acts: bool) -> None:
    counted = Counted(acts=acts)

    side_by_side = bench.run(
        "do", "do", tools=[counted.tool], arguments=[word("a b"), '{ "word":" a  b " }']
    )
    later = bench.run("do", tools=[counted.tool], arguments=word("a b\n"))

    assert codes(side_by_side + later) == [None, "DUPLICATE_CALL", "DUPLICATE_CALL"]
    assert counted.runs == 1


def test_a_failure_may_be_tried_again_at_once(bench: Bench) -> None:
    passing = failure("NETWORK_ERROR", "Away.", recoverable=True)
    counted = Counted(passing, acts=True)

    results = [*bench.run("do", tools=[counted.tool]), *bench.run("do", tools=[counted.tool])]

    assert codes(results) == ["NETWORK_ERROR", None]
    assert counted.runs == 2


def test_arguments_that_are_words_about_the_call_make_no_other_one(bench: Bench) -> None:
    counted = Counted(aside=frozenset({"word"}))
    bench.run("do", tools=[counted.tool], arguments=word("because"))
    assert codes(bench.run("do", tools=[counted.tool], arguments=word("please"))) == [
        "DUPLICATE_CALL"
    ]


def test_a_refused_call_of_an_acting_tool_is_a_refusal_in_the_ledger(bench: Bench) -> None:
    acting, reading = Counted(acts=True), Counted()
    bench.run("do", "do", tools=[reading.tool])
    assert ledger_rows(bench) == ()

    bench.run("do", "do", tools=[acting.tool], arguments=word("new"))

    (row,) = ledger_rows(bench)
    assert (row.action_type, row.phase, row.decision_reason) == (
        "tool:do",
        "blocked",
        "unknown_action",
    )


def test_other_arguments_do_not_lead_out_of_a_loop(bench: Bench) -> None:
    counted = Counted()
    results = [
        bench.run("do", tools=[counted.tool], arguments=word(str(number)))[0] for number in range(5)
    ]
    assert codes(results) == [None, None, None, "TOO_MANY_CALLS", "TOO_MANY_CALLS"]
    assert counted.runs == 3


def test_another_process_judges_by_the_rows(bench: Bench) -> None:
    counted = Counted()
    for number in range(3):
        bench.run("do", tools=[counted.tool], arguments=word(str(number)))

    bench.steps = journal.load_steps([bench.lease.turn_id])[bench.lease.turn_id, None]

    again, other = (
        bench.run("do", tools=[counted.tool], arguments=word(text))[0] for text in ("2", "new")
    )
    assert codes([again, other]) == ["DUPLICATE_CALL", "TOO_MANY_CALLS"]
    assert counted.runs == 3


def test_a_call_is_free_again_when_its_time_is_over(bench: Bench) -> None:
    counted = Counted()
    bench.run("do", tools=[counted.tool])
    (step,) = bench.steps
    aged = [replace(call, at=call.at - timedelta(seconds=61)) for call in step.calls if call.at]
    bench.steps = [replace(step, calls=tuple(aged))]

    assert codes(bench.run("do", tools=[counted.tool])) == [None]


def test_a_hook_that_breaks_refuses_that_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(call: Any, *_: Any) -> None:
        if call.identity == guards.canonical({"word": "bad"}, fold=False):
            raise RuntimeError("secret detail")

    monkeypatch.setattr(hooks, "GUARDS", (breaks, *hooks.GUARDS))
    counted = Counted(acts=True)

    results = bench.run("do", "do", tools=[counted.tool], arguments=[word("bad"), word("good")])

    assert codes(results) == ["EXECUTION_FAILED", None]
    assert "secret" not in str(results)
    assert counted.runs == 1
    assert len(ledger_rows(bench)) == 1


def test_a_result_that_cannot_be_shown_is_not(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_: ToolResult) -> ToolResult:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(hooks, "FINISHES", (breaks,))
    counted = Counted(acts=True)

    (result,) = bench.run("do", tools=[counted.tool])

    assert result["error"]["message"] == "The tool has run, but its result cannot be shown."
    assert counted.runs == 1


def test_a_history_that_cannot_be_read_refuses_every_call(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: Any, **__: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(hooks, "list_calls", breaks)
    tool = Tool[Any](name="do", description="", arguments=Nothing, run=never)

    assert codes(bench.run("do", tools=[tool])) == ["EXECUTION_FAILED"]

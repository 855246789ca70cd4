import json
import threading
import uuid
from dataclasses import replace
from typing import Any

import pytest

from agents.context.results import CUT
from agents.contracts import CallRecord, ToolResult, failure
from agents.models import ToolCall, TurnEvent
from agents.tools import dispatch, execute_action
from agents.tools.base import Arguments, Tool, ToolContext
from audit.contracts import LedgerError, Recorded
from audit.ledger.selectors import actions_of_run
from integrations.exceptions import (
    NotFound,
    NotPermitted,
    RateLimited,
    Rejected,
    Unavailable,
)
from integrations.llm.completions import ModelError
from integrations.models import Account, Organisation
from tests.agents.tools.bench import Bench

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
OK = ToolResult(success=True, data={"ok": True})


class Nothing(Arguments):
    """No arguments but for a word that may set calls apart."""

    word: str = ""


@pytest.fixture
def bench() -> Bench:
    return Bench()


def tool(name: str, run: Any, *, acts: bool = False, delegates: bool = False) -> Tool[Any]:
    return Tool(
        name=name,
        description="",
        arguments=Nothing,
        run=run,
        acts=acts or delegates,
        delegates=delegates,
    )


def never(*_: Any) -> ToolResult:
    raise AssertionError("this tool must not run")


@pytest.mark.parametrize("name", ["archive", "tool:archive", "x" * 300, "a\u202e\nb", "\x00"])
def test_a_tool_that_nobody_knows_is_a_refusal_in_the_ledger(bench: Bench, name: str) -> None:
    (result,) = bench.run(name, tools=[tool("a", never)])

    assert result["error"]["code"] == "NOT_FOUND"
    (row,) = ledger_rows(bench)
    assert (row.phase, row.status, row.decision_reason) == ("blocked", "blocked", "unknown_action")
    assert row.action_type.startswith("tool:")
    assert row.action_type.isprintable()
    assert len(row.action_type) < 100
    assert (row.account_id, row.run_id) == (bench.person.accounts[0].id, str(bench.lease.turn_id))


@pytest.mark.parametrize("arguments", ["{", "[]", '{"a": 1, "a": 2}', '{"surprise": 1}', "NaN"])
@pytest.mark.parametrize("acts", [True, False])
def test_a_mistake_of_form_is_no_refusal_in_the_ledger(
    bench: Bench, acts: bool, arguments: str
) -> None:
    (result,) = bench.run("do", tools=[tool("do", never, acts=acts)], arguments=arguments)

    assert result["error"]["code"] == "INVALID_INPUT"
    assert ledger_rows(bench) == ()


def test_an_action_for_an_account_that_is_not_the_users_is_a_refusal_in_the_ledger(
    bench: Bench,
) -> None:
    other = Organisation.objects.create(slug="other", name="Other")
    strange = Account.objects.create(organisation=other, external_user_id="eve", source="gmail")
    for account_id in (strange.id, uuid.uuid4()):
        wish = {"action_type": "archive", "params": {}, "account_id": str(account_id)}

        (result,) = bench.run(
            "execute_action", tools=[execute_action.TOOL], arguments=json.dumps(wish)
        )

        assert result["error"]["message"] == "There is no such account."
    rows = ledger_rows(bench)
    assert [(row.action_type, row.status) for row in rows] == [
        ("tool:execute_action", "blocked")
    ] * 2
    assert {row.account_id for row in rows} == {bench.person.accounts[0].id}


def ledger_rows(bench: Bench) -> tuple[Recorded, ...]:
    return actions_of_run(tenant_id=bench.person.organisation_id, run_id=str(bench.lease.turn_id))


def test_calls_that_read_run_side_by_side(bench: Bench) -> None:
    together = threading.Barrier(3, timeout=60)

    def wait(*_: Any) -> ToolResult:
        together.wait()  # passes only when all three are here at once
        return OK

    tools = [tool(name, wait) for name in ("a", "b", "c")]

    assert [r["success"] for r in bench.run("a", "b", "c", tools=tools)] == [True] * 3


def test_calls_that_act_run_one_after_another_in_the_models_order(bench: Bench) -> None:
    order: list[str] = []

    def act(context: ToolContext, _: Nothing) -> ToolResult:
        assert ToolCall.objects.exclude(result=None).count() == len(order)
        order.append(context.call.name)
        return OK

    tools = [tool(name, act, acts=True) for name in ("b", "a", "c")]

    words = [json.dumps({"word": word}) for word in "wxyz"]
    bench.run("c", "a", "b", "a", tools=tools, arguments=words)

    assert order == ["c", "a", "b", "a"]


def test_agents_work_side_by_side_and_between_what_acts_before_and_after_them(
    bench: Bench,
) -> None:
    order: list[str] = []
    together = threading.Barrier(2, timeout=60)

    def act(context: ToolContext, _: Nothing) -> ToolResult:
        order.append(context.call.name)
        return OK

    def work(*_: Any) -> ToolResult:
        together.wait()
        order.append("agent")
        return OK

    tools = [tool(name, act, acts=True) for name in ("first", "last")]
    tools += [tool(name, work, delegates=True) for name in ("mail", "issues")]
    bench.run("first", "mail", "issues", "last", tools=tools)

    assert order == ["first", "agent", "agent", "last"]


def test_no_more_agents_than_a_few_are_at_work_at_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "AGENTS_AT_ONCE", 2)
    asked, threads = threading.Event(), set[int]()
    # Connections are given up once all are asked for; until then no thread is free for a second.
    monkeypatch.setattr(dispatch, "release_connections", asked.set)

    def work(*_: Any) -> ToolResult:
        assert asked.wait(60)
        threads.add(threading.get_ident())
        return OK

    tools = [tool(name, work, delegates=True) for name in "abcd"]
    assert [one["success"] for one in bench.run(*"abcd", tools=tools)] == [True] * 4
    assert len(threads) == 2


@pytest.mark.parametrize(
    ("error", "code", "recoverable"),
    [
        (RuntimeError("secret detail"), "EXECUTION_FAILED", False),
        (ModelError("timeout", retryable=True), "TIMEOUT", True),
        (ModelError("unreachable", retryable=True), "NETWORK_ERROR", True),
        (ModelError("status_429", retryable=True), "RATE_LIMIT", True),
        (ModelError("status_400", retryable=False), "EXECUTION_FAILED", False),
        (Unavailable("secret detail"), "NETWORK_ERROR", True),
        (NotFound("secret detail"), "NOT_FOUND", False),
        (NotPermitted("secret detail"), "PERMISSION_DENIED", False),
        (Rejected("secret detail"), "INVALID_INPUT", False),
        (RateLimited("secret detail"), "RATE_LIMIT", True),
    ],
)
def test_a_tool_that_raises_loses_neither_its_siblings_nor_its_details(
    bench: Bench, error: Exception, code: str, recoverable: bool
) -> None:
    def broken(*_: Any) -> ToolResult:
        raise error

    failed, fine = bench.run(
        "broken", "fine", tools=[tool("broken", broken), tool("fine", lambda *_: OK)]
    )

    assert (failed["error"]["code"], failed["error"]["recoverable"]) == (code, recoverable)
    assert failed["error"]["suggested_action"]
    assert "secret" not in str(failed)
    assert fine == {"success": True, "data": {"ok": True}}


def test_a_ledger_that_cannot_be_written_is_said_so(bench: Bench) -> None:
    def unrecorded(*_: Any) -> ToolResult:
        raise LedgerError("secret detail")

    (failed,) = bench.run("act", tools=[tool("act", unrecorded, acts=True)])

    assert failed["error"]["message"] == (
        "The ledger cannot be written now, and nothing is done that it does not record."
    )


def test_a_slow_call_gets_a_result_and_its_late_one_changes_nothing(
    bench: Bench, settings: Any
) -> None:
    settings.TOOL_TIMEOUT_SECONDS = 0.2
    go_on = threading.Event()

    def slow(*_: Any) -> ToolResult:
        go_on.wait(60)
        return OK

    results = bench.run("slow", "fine", tools=[tool("slow", slow), tool("fine", lambda *_: OK)])
    go_on.set()
    dispatch._pool().shutdown(wait=True)  # the late one has written, or tried to
    dispatch._pool.cache_clear()

    assert results[0]["error"]["code"] == "TIMEOUT"
    stored = ToolCall.objects.get(name="slow").result
    assert stored is not None
    assert stored["error"]["code"] == "TIMEOUT"
    (late,) = TurnEvent.objects.filter(type="tool.late")
    assert (late.data["tool"], late.data["success"]) == ("slow", True)


@pytest.mark.parametrize("count", [1, 2])
def test_a_tool_may_have_a_time_of_its_own(bench: Bench, settings: Any, count: int) -> None:
    settings.TOOL_TIMEOUT_SECONDS = 3600
    go_on = threading.Event()

    def slow(*_: Any) -> ToolResult:
        go_on.wait(10)
        return OK

    impatient = replace(tool("slow", slow), timeout_seconds=0.05)
    words = [json.dumps({"word": str(number)}) for number in range(count)]
    results = bench.run(*["slow"] * count, tools=[impatient], arguments=words)
    go_on.set()
    dispatch._pool().shutdown(wait=True)
    dispatch._pool.cache_clear()

    assert [result["error"]["code"] for result in results] == ["TIMEOUT"] * count


def test_an_action_is_waited_for_however_slow(bench: Bench, settings: Any) -> None:
    settings.TOOL_TIMEOUT_SECONDS = 0
    (result,) = bench.run("do", tools=[tool("do", lambda *_: OK, acts=True)])
    assert result["success"] is True


def test_a_result_that_is_too_long_is_cut(bench: Bench, settings: Any) -> None:
    settings.RESULT_MAX_BYTES = 500
    long = ToolResult(success=True, data={"text": "x" * 5000, "n": 1}, untrusted=True)

    (result,) = bench.run("long", tools=[tool("long", lambda *_: long)])

    assert result["data"] == {"text": "x" * 200 + " […]", "n": 1, "cut": CUT}
    assert result["untrusted"] is True


def test_results_that_the_database_cannot_hold_are_made_to_fit(bench: Bench) -> None:
    odd = ToolResult(success=True, data={"a\x00b": "x\x00\ud800", "n": [uuid.UUID(int=0), None]})

    [result] = bench.run("odd", tools=[tool("odd", lambda *_: odd)])

    assert result["data"] == {"ab": "x?", "n": ["00000000-0000-0000-0000-000000000000", None]}


def test_an_action_of_a_call_has_the_same_id_whenever_the_call_is_run(bench: Bench) -> None:
    call = CallRecord(
        id=uuid.uuid4(), name="x", arguments="{}", action_id=uuid.uuid4(), result=None
    )
    context = bench.context(call)

    ids = [context.action_id(number) for number in range(3)]

    assert ids[0] == call.action_id
    assert len(set(ids)) == 3
    assert ids == [bench.context(replace(call)).action_id(number) for number in range(3)]


def test_a_failure_says_what_to_do() -> None:
    assert failure("NOT_FOUND", "No.", suggested_action="Look.").wire() == {
        "success": False,
        "error": {
            "code": "NOT_FOUND",
            "message": "No.",
            "recoverable": False,
            "suggested_action": "Look.",
        },
    }

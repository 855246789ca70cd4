"""Runs as a whole, over real HTTP, with a scripted model."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from agents import turns
from agents.contracts import ToolResult, failure
from agents.models import Message, Turn, TurnEvent
from agents.prompts import LIMIT_SENTENCES
from agents.tools import retrieve_context
from integrations import metering
from integrations.models import Account, Budget, Organisation
from tests.model_server import Cut, Script, ScriptedModel, calls, scripted_model
from tests.model_server import Message as Said

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."


@pytest.fixture
def turn() -> Turn:
    found = Organisation.objects.create(slug="default", name="Default")
    Account.objects.create(organisation=found, external_user_id="maya", source="gmail")
    started = turns.start_turn(
        organisation_id=found.id,
        external_user_id="maya",
        conversation_id=None,
        message="Find the contract",
        decisions=[],
        principal="test",
    )
    return Turn.objects.get(id=started)


@pytest.fixture
def model(settings: Any, request: pytest.FixtureRequest) -> Iterator[ScriptedModel]:
    script: Script = {ORCHESTRATOR: request.param}
    with scripted_model(settings, script) as running:
        yield running


def looks(*queries: str) -> Said:
    return calls(*(("retrieve_context", {"query": query}) for query in queries))


def answers(monkeypatch: pytest.MonkeyPatch, *results: ToolResult) -> None:
    """Let searches give these results, in order."""
    left = list(results)
    monkeypatch.setitem(
        retrieve_context.TOOL.__dict__, "run", lambda *_: left.pop(0) if left else found()
    )


def found() -> ToolResult:
    return ToolResult(success=True, data={"found": 0, "items": []})


def reply(turn: Turn) -> tuple[str, str]:
    turn.refresh_from_db()
    return turn.ending, Message.objects.get(turn=turn, role="assistant").content


@pytest.mark.parametrize(
    "model", [[looks("a"), looks("b"), looks("c"), looks("d"), "Nothing there."]], indirect=True
)
def test_a_tool_called_again_and_again_is_not_run_and_the_model_may_still_answer(
    turn: Turn, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch)

    turns.run_turn(turn.id)

    assert reply(turn) == ("reply", "Nothing there.")
    given = [call.result for call in turn.calls.order_by("step_id") if call.result]
    assert [(g.get("error") or {}).get("code") for g in given] == [None] * 3 + ["TOO_MANY_CALLS"]


@pytest.mark.parametrize("model", [[looks("a"), looks("a"), looks("A ")]], indirect=True)
def test_a_model_that_goes_on_in_circles_is_stopped_with_an_answer(
    turn: Turn, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch)

    turns.run_turn(turn.id)

    assert reply(turn) == ("limit", LIMIT_SENTENCES["loop"])


@pytest.mark.parametrize(
    "model", [[looks("a"), looks("b"), looks("c"), "I could not search."]], indirect=True
)
def test_a_tool_that_fails_again_and_again_is_taken_away_and_the_model_is_told(
    turn: Turn, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, *[failure("NETWORK_ERROR", "Away.", recoverable=True)] * 3)

    turns.run_turn(turn.id)

    *before, last = model.chats()
    assert all("retrieve_context" in offered(body) for body in before)
    assert "retrieve_context" not in offered(last)
    assert last["messages"][-1] == {
        "role": "system",
        "content": "[tools] Failed again and again, so not here: retrieve_context",
    }
    decided = TurnEvent.objects.filter(turn=turn, type="decision").values_list("data", flat=True)
    assert list(decided) == [{"decision": "tool_rests", "tool": "retrieve_context"}]
    assert reply(turn) == ("reply", "I could not search.")


@pytest.mark.parametrize("model", [[looks("a")]], indirect=True)
@pytest.mark.parametrize(
    ("setting", "most", "limit"),
    [("TURN_MAX_TOKENS", 15, "tokens"), ("TURN_MAX_COST", Decimal("0.000075"), "cost")],
)
def test_a_turn_that_has_used_what_it_may_ends_with_an_answer(
    turn: Turn,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    setting: str,
    most: Any,
    limit: str,
) -> None:
    answers(monkeypatch)
    settings.CHAT_MODEL = "gpt-4o"  # 10 tokens asked and 5 answered cost 0.000075 dollars
    setattr(settings, setting, most)

    turns.run_turn(turn.id)

    assert reply(turn) == ("limit", LIMIT_SENTENCES[limit])
    assert len(model.chats()) == 1


DELEGATES = calls(("delegate_to_specialist", {"specialist": "task", "task": "Find tasks"}))


@pytest.mark.parametrize("most", [30, 31])
def test_a_specialist_spends_from_its_turns_limits(turn: Turn, settings: Any, most: int) -> None:
    settings.TURN_MAX_TOKENS = most
    script: Script = {
        ORCHESTRATOR: [DELEGATES] if most == 30 else [DELEGATES, "Done."],
        "You are Remit's task specialist.": ["I prepared nothing."],
    }
    with scripted_model(settings, script):
        turns.run_turn(turn.id)

    expected = ("limit", LIMIT_SENTENCES["tokens"]) if most == 30 else ("reply", "Done.")
    assert reply(turn) == expected


def test_a_budget_without_room_ends_the_turn_with_its_sentence(turn: Turn, settings: Any) -> None:
    Budget.objects.create(organisation_id=turn.organisation_id, max_tokens=0)
    with scripted_model(settings, {}):
        turns.run_turn(turn.id)

    assert reply(turn) == ("limit", metering.SENTENCE)
    assert turn.error_code == "budget_exhausted"


def test_text_that_broke_off_is_taken_back_from_who_follows(turn: Turn, settings: Any) -> None:
    with scripted_model(settings, {ORCHESTRATOR: [Cut("Half"), "Whole."]}):
        turns.run_turn(turn.id, stream=True)

    types = TurnEvent.objects.filter(turn=turn).values_list("type", flat=True)
    assert "text.restarted" in types
    assert reply(turn) == ("reply", "Whole.")


def offered(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body["tools"]]

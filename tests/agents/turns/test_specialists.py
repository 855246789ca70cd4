"""Agents that work side by side in one turn, over real HTTP with a scripted model."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from agents.models import CustomAgent, CustomAgentRun, Step, ToolCall, Turn, TurnEvent
from agents.tools import dispatch
from agents.turns import turns
from tests.model_server import Failure, Reply, Script, ScriptedModel, calls, scripted_model
from tests.office import until

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."
EMAIL, DOCUMENT = "You are Remit's email specialist.", "You are Remit's document specialist."
PATIENCE = 30  # seconds


def delegate(specialist: str) -> tuple[str, dict[str, Any]]:
    return "delegate_to_specialist", {"specialist": specialist, "task": f"Look, {specialist}."}


BOTH = calls(delegate("email"), delegate("document"))


def run(turn: Turn, settings: Any, script: Script) -> ScriptedModel:
    with scripted_model(settings, script) as model:
        turns.run_turn(turn.id)
    turn.refresh_from_db()
    return model


def once_all_asked(count: int, text: str) -> tuple[Callable[[dict[str, Any]], Reply], ...]:
    """Replies of which none is given before so many were asked for."""
    barrier = threading.Barrier(count)

    def reply(body: dict[str, Any]) -> Reply:
        barrier.wait(PATIENCE)
        return text

    return (reply,) * count


def results(model: ScriptedModel) -> list[dict[str, Any]]:
    body = model.chats(ORCHESTRATOR)[-1]
    return [json.loads(m["content"]) for m in body["messages"] if m["role"] == "tool"]


def test_two_specialists_asked_for_in_one_step_are_at_work_at_the_same_time(
    turn: Turn, settings: Any
) -> None:
    email, document = once_all_asked(2, "Found.")
    run(turn, settings, {ORCHESTRATOR: [BOTH, "Done."], EMAIL: email, DOCUMENT: document})

    assert turn.ending == Turn.Ending.REPLY
    below = Step.objects.exclude(parent_call=None).values_list("agent", "number", "text")
    assert sorted(below) == [("document", 1, "Found."), ("email", 1, "Found.")]
    parents = ToolCall.objects.order_by("position").values_list("arguments", "steps__agent")
    assert [(json.loads(given)["specialist"], agent) for given, agent in parents] == [
        ("email", "email"),
        ("document", "document"),
    ]
    events = TurnEvent.objects.filter(turn=turn).order_by("sequence")
    numbers = list(events.values_list("sequence", flat=True))
    assert numbers == [*range(1, len(numbers) + 1)]


def test_results_are_in_the_order_of_the_calls_and_not_of_their_ends(
    turn: Turn, settings: Any
) -> None:
    def last(body: dict[str, Any]) -> Reply:
        try:
            until(lambda: ToolCall.objects.exclude(result=None).exists(), seconds=PATIENCE)
        finally:
            connection.close()
        return "The mails."

    script: Script = {ORCHESTRATOR: [BOTH, "Done."], EMAIL: last, DOCUMENT: ["The documents."]}
    model = run(turn, settings, script)
    assert [one["data"]["result"] for one in results(model)] == ["The mails.", "The documents."]


def test_one_that_fails_does_not_stop_the_other(turn: Turn, settings: Any) -> None:
    script: Script = {
        ORCHESTRATOR: [BOTH, "Half of it."],
        EMAIL: [Failure(400)],
        DOCUMENT: ["The documents."],
    }
    failed, worked = results(run(turn, settings, script))
    assert failed["error"]["code"] == "EXECUTION_FAILED"
    assert worked["data"]["result"] == "The documents."
    assert turn.ending == Turn.Ending.REPLY


def test_custom_agents_work_side_by_side_and_each_with_tools_of_its_own(
    turn: Turn, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one thread for tools: agents take none of these."""
    agents = [
        CustomAgent.objects.create(
            organisation=turn.organisation,
            name=f"Finder {number}",
            description="Finds.",
            prompt="Find.",
            tools=["retrieve_context"],
            sources=["gmail"],
            enabled=True,
        )
        for number in range(2)
    ]
    look, barrier = calls(("retrieve_context", {"query": "x"})), threading.Barrier(2)
    monkeypatch.setattr(dispatch, "LEAST_THREADS", 1)
    settings.TURN_THREADS = 1
    dispatch._pool.cache_clear()

    def find(body: dict[str, Any]) -> Reply:
        barrier.wait(PATIENCE)
        return "Found." if body["messages"][-1]["role"] == "tool" else look

    both = calls(*(("run_public_agent", {"agent_id": str(a.id), "query": "x"}) for a in agents))
    names = {f"You are Remit's custom agent {agent.name}.": find for agent in agents}
    try:
        run(turn, settings, {ORCHESTRATOR: [both, "Done."], **names})
    finally:
        dispatch._pool().shutdown()
        dispatch._pool.cache_clear()

    assert turn.ending == Turn.Ending.REPLY
    runs = CustomAgentRun.objects.values_list("agent__name", "succeeded", "steps")
    assert sorted(runs) == [("Finder 0", True, 2), ("Finder 1", True, 2)]

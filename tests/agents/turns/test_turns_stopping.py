"""A turn that a person stops: at once, but never half-way through an action."""

import threading
import uuid
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.context.prompts import LIMIT_SENTENCES
from agents.contracts import ToolResult
from agents.models import Message, Step, ToolCall, Turn
from agents.tools import retrieve_context
from agents.turns import turns
from tests.agents.pages import mailbox, superuser
from tests.agents.waiting import turn_of
from tests.clients import log_in
from tests.model_server import Reply, calls, scripted_model

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."
LOOK = calls(("retrieve_context", {"query": "a"}), ("retrieve_context", {"query": "b"}))


def started(**fields: Any) -> Turn:
    turn_id = turn_of(mailbox().organisation, message="Find the contract", queued=False)
    Turn.objects.filter(id=turn_id).update(**fields)
    return Turn.objects.get(id=turn_id)


def stop(turn: Turn) -> bool:
    return turns.stop_turn(turn.id, by="ada", now=timezone.now())


def ended(turn: Turn) -> tuple[str, str, list[str]]:
    turn.refresh_from_db()
    said = Message.objects.filter(turn=turn, role="assistant")
    return turn.state, turn.ending, [message.content for message in said]


STOPPED = ("finished", "stopped", [LIMIT_SENTENCES["stopped"]])


def test_a_turn_whose_model_is_thinking_ends_at_once_and_what_comes_later_is_nothing(
    settings: Any,
) -> None:
    turn, asked, go_on = started(), threading.Event(), threading.Event()
    worked: list[bool] = []

    def think(_: dict[str, Any]) -> Reply:
        asked.set()
        assert go_on.wait(30)
        return "There it is."

    def work() -> None:
        worked.append(turns.run_turn(turn.id))
        connections.close_all()

    with scripted_model(settings, {ORCHESTRATOR: think}):
        thread = threading.Thread(target=work)
        thread.start()
        try:
            assert asked.wait(30)
            assert stop(turn)
            assert ended(turn) == STOPPED
        finally:
            go_on.set()
            thread.join()

    assert worked == [False]
    assert ended(turn) == STOPPED
    assert not Step.objects.filter(turn=turn).exists()


def test_calls_under_way_end_first_and_no_model_is_asked_again(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = started()

    def slow(*_: Any) -> ToolResult:
        assert stop(turn)
        return ToolResult(success=True, data={"state": ended(turn)[0]})

    monkeypatch.setitem(retrieve_context.TOOL.__dict__, "run", slow)
    with scripted_model(settings, {ORCHESTRATOR: [LOOK]}):
        assert turns.run_turn(turn.id)

    assert ended(turn) == STOPPED
    results = ToolCall.objects.filter(turn=turn).values_list("result", flat=True)
    assert list(results) == [{"success": True, "data": {"state": "running"}}] * 2


def test_a_queued_turn_is_never_begun() -> None:
    turn = started()
    assert stop(turn)
    assert ended(turn) == STOPPED
    assert not turns.run_turn(turn.id)
    assert turn.stop_asked_by == "ada"


def test_a_turn_with_decisions_to_carry_out_ends_by_itself() -> None:
    turn = started(decisions=[{"id": str(uuid.uuid4()), "decision": "confirmed"}])
    assert stop(turn)
    assert ended(turn) == ("queued", "", [])


def test_what_has_ended_stays_as_it_is() -> None:
    turn = started(state="finished", ending="reply")
    assert not stop(turn)
    assert ended(turn) == ("finished", "reply", [])
    assert turn.stop_asked_at is None


def test_the_api_stops_the_turns_of_the_callers_organisation_alone() -> None:
    mailbox("omar", slug="elsewhere")
    turn, operator = started(), superuser()
    address = f"/api/v1/turns/{turn.id}/stop"

    def post(client: Client, organisation: str) -> Any:
        headers = {"X-Remit-Organisation": organisation}
        return client.post(address, {}, content_type="application/json", headers=headers)

    assert post(Client(), "default").status_code in (401, 403)
    assert post(operator, "elsewhere").status_code == 404
    assert ended(turn)[0] == "queued"
    answered = post(operator, "default").json()
    assert (answered["status"], answered["ending"]) == ("finished", "stopped")
    assert answered["response"] == LIMIT_SENTENCES["stopped"]


def test_an_operator_stops_a_turn_from_its_page(settings: Any) -> None:
    turn, operator = started(), superuser()
    address = reverse("admin:agents_turn_change", args=[turn.id])
    stop_it = reverse("admin:agents_turn_stop", args=[turn.id])
    assert "Stop this turn" in operator.get(address).content.decode()
    assert operator.get(stop_it).status_code == 405

    client = log_in("reader", "view_turn")
    assert "Stop this turn" not in client.get(address).content.decode()
    assert client.post(stop_it).status_code == 403
    assert ended(turn)[0] == "queued"

    shown = operator.post(stop_it, follow=True).content.decode()
    assert ended(turn) == STOPPED
    assert turn.stop_asked_by == "operator:admin"
    assert "Stop this turn" not in shown
    assert "$0.00" in shown

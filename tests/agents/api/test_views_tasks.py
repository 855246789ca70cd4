"""One-shot tasks, the status, and what is said of errors, over the API."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from agents.answer import records
from agents.context import prompts
from agents.models import Message, Turn
from agents.turns import turns
from agents.turns.roster import AGENTS
from integrations.models import Account, Organisation
from tests.model_server import Failure, ScriptedModel, calls, scripted_model

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."
QUESTION = {"question": "Which John?", "options": ["John Smith", "John Doe"]}


@pytest.fixture(autouse=True)
def mailbox(organisation: Organisation) -> None:
    Account.objects.create(organisation=organisation, external_user_id="maya", source="gmail")


@pytest.fixture
def model(settings: Any, request: pytest.FixtureRequest) -> Iterator[ScriptedModel]:
    with scripted_model(settings, {ORCHESTRATOR: request.param}) as running:
        yield running


def post(token: str, body: Any, path: str = "/api/v1/chat", **more: Any) -> Any:
    return Client(**more).post(
        path,
        data=json.dumps(body).encode(),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )


ASKING = calls(("ask_user", QUESTION))
HANDING_OVER = calls(("escalate", {"reason": "A refund is asked for."}))


@pytest.mark.parametrize(
    ("model", "status"),
    [
        (["Two mails are new."], "success"),
        ([ASKING], "needs_input"),
        ([HANDING_OVER], "escalated"),
        ([Failure(500)], "failed"),
        ([calls(("archive", {"email_id": "m1"})), "I archived nothing."], "failed"),
    ],
    indirect=["model"],
)
def test_a_task_says_what_came_of_it(token: str, model: ScriptedModel, status: str) -> None:
    response = post(token, {"user_id": "maya", "task": "What is new?"}, "/api/v1/tasks")

    assert response.status_code == 200, response.content
    found = response.json()
    turn = Turn.objects.get()
    assert (found["task_id"], found["status"]) == (str(turn.id), status)
    assert found["answer"]["session_id"] == str(turn.conversation_id)
    assert found["answer"]["ending"] == turn.ending


@pytest.mark.parametrize("model", [[]], indirect=True)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"user_id": "maya"}, 400),
        ({"user_id": "maya", "task": " "}, 400),
        ({"user_id": "maya", "task": "x", "session_id": str(uuid.uuid4())}, 400),
        ({"user_id": "nobody", "task": "x"}, 404),
    ],
)
def test_a_task_that_makes_no_sense_starts_nothing(
    token: str, model: ScriptedModel, body: dict[str, Any], code: int
) -> None:
    assert post(token, body, "/api/v1/tasks").status_code == code
    assert not Turn.objects.exists()


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ([Failure(400)], turns.REFUSED_SENTENCE),
        ([Failure(401)], turns.REFUSED_SENTENCE),
        ([Failure(500)], turns.ERROR_SENTENCE),
    ],
    indirect=["model"],
)
def test_an_error_says_whether_to_try_again_helps(
    token: str, model: ScriptedModel, said: str
) -> None:
    """FINDINGS A11: a wrong key was answered with “Please try again”."""
    assert post(token, {"user_id": "maya", "message": "Hello"}).json()["response"] == said


@pytest.mark.parametrize("model", [[]], indirect=True)
def test_what_breaks_is_in_the_log_and_the_user_gets_a_sentence(
    token: str,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing of an exception reaches the user, neither in the answer to the request nor, once
    nobody tries the turn again, in the conversation."""

    def breaks(*_: Any, **__: Any) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(prompts, "render_system", breaks)
    sent = {"user_id": "maya", "message": "Was ist neu in den Mails von gestern?"}
    answer = post(token, sent, raise_request_exception=False)

    assert answer.status_code == 500
    assert answer.json()["error"] == {
        "code": "server_error",
        "message": "Something broke on our side. It is in the log.",
    }
    assert "hunter2" in caplog.text
    turn = Turn.objects.get()
    Turn.objects.update(attempts=turns.MAX_ATTEMPTS, lease_expires_at="2000-01-01T00:00:00Z")
    assert turns.run_turn(turn.id)
    turn.refresh_from_db()
    assert (turn.state, turn.error_code) == (Turn.State.FAILED, "too_many_attempts")
    said = Message.objects.get(role="assistant").content
    assert said == records.say(turns.BROKEN_SENTENCE, language="de")


def test_the_status_names_every_agent_with_all_its_tools_and_who_answers(
    token: str, settings: Any
) -> None:
    settings.CHAT_MODEL, settings.SPECIALIST_MAX_STEPS = "some-model", 7
    settings.AGENT_MODELS = {"email": "a-smaller-model"}
    settings.MODEL_IS_OFFLINE = False
    own = {"authorization": f"Bearer {token}"}
    found = Client().get("/api/v1/status", headers=own).json()

    assert Client().get("/status", headers=own).json() == found
    assert (found["chat_model"], found["model_is_offline"]) == ("some-model", False)
    assert found["max_seconds"] == settings.TURN_MAX_SECONDS
    configured = {agent["name"]: agent for agent in found["agents"]}
    assert configured["email"] | {"tools": []} == {
        "name": "email",
        "model": "a-smaller-model",
        "version": next(agent.version for agent in AGENTS if agent.name == "email"),
        "max_steps": 7,
        "max_tool_calls": settings.TURN_MAX_TOOL_CALLS,
        "max_tokens": settings.TURN_MAX_TOKENS,
        "max_cost": str(settings.TURN_MAX_COST),
        "tools": [],
    }
    assert configured["orchestrator"]["model"] == "some-model"
    assert {
        agent["name"]: {tool["name"] for tool in agent["tools"]} for agent in found["agents"]
    } == {agent.name: set(agent.toolbox) for agent in AGENTS}
    assert Client().get("/api/v1/status").status_code == 401
    assert Client().get("/status").status_code == 401

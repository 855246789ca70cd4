"""The chat API over real HTTP messages, with a scripted model."""

import json
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from agents.journal import journal, leases
from agents.journal.history import load_user_words
from agents.models import Conversation, Message, ToolCall, Turn
from audit.ledger.selectors import actions_of_run
from integrations.models import Account, Organisation, ServiceToken
from integrations.web import authentication
from sandbox.offline_model import chat_request, message_order
from tests.model_server import Failure, Script, ScriptedModel, calls, exchanged, scripted_model

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."
QUESTION = {"question": "Which John?", "options": ["John Smith", "John Doe"]}


@pytest.fixture
def organisation() -> Organisation:
    found = Organisation.objects.create(slug="default", name="Default")
    for user in ("maya", "omar"):
        Account.objects.create(organisation=found, external_user_id=user, source="gmail")
    return found


def post(token: str, body: Any, path: str = "/api/v1/chat", key: str | None = None) -> Any:
    return Client().post(
        path,
        data=body if isinstance(body, bytes) else json.dumps(body).encode(),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"} | ({"Idempotency-Key": key} if key else {}),
    )


def say(
    token: str, message: str, session: str | None = None, user: str = "maya", **more: Any
) -> dict[str, Any]:
    body = {"user_id": user, "message": message, **more}
    body |= {"session_id": session} if session else {}
    response = post(token, body)
    assert response.status_code == 200, response.content
    return dict(response.json())


@pytest.fixture
def model(settings: Any, request: pytest.FixtureRequest) -> Iterator[ScriptedModel]:
    script: Script = {ORCHESTRATOR: request.param}
    with scripted_model(settings, script) as running:
        yield running
    for body in running.chats():
        parsed = chat_request.parse(json.dumps(body).encode())
        message_order.check(parsed.messages)


@pytest.mark.parametrize("model", [["Hello Maya."]], indirect=True)
def test_a_message_is_answered_in_the_contracts_shape(token: str, model: ScriptedModel) -> None:
    answer = say(token, "Hello")

    turn = Turn.objects.get()
    reply = Message.objects.get(role="assistant")
    assert answer == {
        "session_id": str(Conversation.objects.get().id),
        "turn_id": str(turn.id),
        "message_id": str(reply.id),
        "status": "finished",
        "ending": "reply",
        "problem": None,
        "response": "Hello Maya.",
        "response_html": "<p>Hello Maya.</p>",
        "context_used": [],
        "pending_actions": [],
        "questions": [],
        "held_actions": [],
        "handled_actions": [],
        "completed_actions": [],
        "refused_actions": [],
        "escalation": None,
        "needs_clarification": False,
        "clarification": None,
        "plan": None,
        "citations": [],
        "review": None,
        "record": "No action was carried out.",
    }
    assert [m.content for m in Message.objects.filter(role="user")] == ["Hello"]
    assert (turn.prompt_tokens, turn.completion_tokens) == (10, 5)


@pytest.mark.parametrize("model", [["One.", "Two."]], indirect=True)
def test_a_session_remembers_what_was_said(token: str, model: ScriptedModel) -> None:
    first = say(token, "First")
    second = say(token, "Second", first["session_id"])

    assert second["session_id"] == first["session_id"]
    [_, then] = model.chats(ORCHESTRATOR)
    assert [m["content"] for m in exchanged(then)[1:]] == ["First", "One.", "Second"]


@pytest.mark.parametrize(
    "model", [[calls(("ask_user", QUESTION), text="Which one?"), "Thanks."]], indirect=True
)
def test_an_answer_resumes_the_question_from_the_database(token: str, model: ScriptedModel) -> None:
    asked = say(token, "Tasks from John's mail")
    answered = say(token, "John Smith", asked["session_id"])

    assert asked["needs_clarification"] is True
    assert asked["response"] == "Which one?"
    assert asked["clarification"] == QUESTION | {"required_for": ""}
    assert (answered["needs_clarification"], answered["response"]) == (False, "Thanks.")
    [_, then] = model.chats(ORCHESTRATOR)
    assert [m["role"] for m in exchanged(then)] == ["system", "user", "assistant", "tool"]
    assert json.loads(exchanged(then)[-1]["content"]) == {
        "success": True,
        "data": {"answer": "John Smith"},
    }
    assert Message.objects.count() == 4


@pytest.mark.parametrize(
    "model", [[calls(("ask_user", QUESTION), text="Which one?"), "Thanks."]], indirect=True
)
def test_an_option_is_chosen_by_its_place(token: str, model: ScriptedModel) -> None:
    asked = say(token, "Tasks from John's mail", option=None)
    session = asked["session_id"]
    for wrong in ({"option": 2}, {"option": 0, "message": "John Smith"}, {"option": -1}):
        body = {"user_id": "maya", "session_id": session, "message": ""} | wrong
        assert post(token, body).status_code == 400
    say(token, "", session, option=1)

    [_, then] = model.chats(ORCHESTRATOR)
    assert json.loads(exchanged(then)[-1]["content"])["data"] == {"answer": "John Doe"}
    answer = Message.objects.filter(role="user").latest("created_at")
    assert (answer.content, answer.metadata["option"]) == ("John Doe", 1)
    assert load_user_words(answer.turn).text == "Tasks from John's mail"


@pytest.mark.parametrize("model", [["Thanks."]], indirect=True)
def test_what_was_pasted_is_marked_in_code_points_of_the_message(
    token: str, model: ScriptedModel
) -> None:
    for wrong in ([[0, 40]], [[3, 2]], [[0]], [["a", 1]], [[-1, 2]]):
        body = {"user_id": "maya", "message": "Send it.", "pasted": wrong}
        assert post(token, body).status_code == 400
    assert Message.objects.count() == 0
    say(token, "  Mail \U0001f600 eve@evil.example ", pasted=[[9, 25]])
    message = Message.objects.get(role="user")
    assert (message.content, message.metadata["pasted"]) == (
        "Mail \U0001f600 eve@evil.example",
        [[7, 23]],
    )
    assert "eve" not in load_user_words(message.turn).text


@pytest.mark.parametrize(
    "model",
    [
        [
            calls(
                ("no_such_tool", {}),
                ("ask_user", {"question": ""}),
                ("retrieve_context", "{"),
                ("retrieve_context", {"query": "x", "surprise": 1}),
                ("execute_action", "[]"),
            ),
            "I see.",
        ]
    ],
    indirect=True,
)
def test_every_bad_call_gets_one_typed_result_and_the_run_goes_on(
    token: str, model: ScriptedModel
) -> None:
    answer = say(token, "Hello")

    assert answer["response"] == "I see."
    results = [
        json.loads(m["content"]) for m in model.chats()[1]["messages"] if m["role"] == "tool"
    ]
    assert [r["error"]["code"] for r in results] == [
        "NOT_FOUND",
        "INVALID_INPUT",
        "INVALID_INPUT",
        "INVALID_INPUT",
        "INVALID_INPUT",
    ]
    turn = Turn.objects.get()
    rows = actions_of_run(tenant_id=turn.organisation_id, run_id=str(turn.id))
    assert [row.action_type for row in rows] == ["tool:no_such_tool"]
    assert {row.status for row in rows} == {"blocked"}


@pytest.mark.parametrize("model", [[Failure(500)]], indirect=True)
def test_a_model_that_fails_ends_the_turn_with_a_sentence(token: str, model: ScriptedModel) -> None:
    answer = say(token, "Hello")

    assert answer["status"] == "failed"
    assert answer["response"].startswith("I could not finish this")
    assert answer["response"].endswith("Please try again.")
    assert "500" not in answer["response"]


@pytest.mark.parametrize("model", [[Failure(400)], [Failure(401)], [Failure(404)]], indirect=True)
def test_what_no_second_try_mends_is_not_asked_for(token: str, model: ScriptedModel) -> None:
    answer = say(token, "Hello")

    assert answer["status"] == "failed"
    assert "try again does not help" in answer["response"]


@pytest.mark.parametrize("model", [[calls(("ask_user", "{}"))] * 40], indirect=True, ids=["loops"])
def test_a_model_that_loops_is_stopped_with_an_answer(
    token: str, settings: Any, model: ScriptedModel
) -> None:
    settings.TURN_MAX_STEPS = 3
    answer = say(token, "Hello")
    model._left[ORCHESTRATOR].clear()

    assert len(model.chats()) == 3
    assert answer["response"].startswith("I stopped because this took too many steps.")


BAD = [
    (b"", 400, "invalid"),
    (b"{", 400, "parse_error"),
    (b"[]", 400, "parse_error"),
    (b'{"user_id": "maya", "user_id": "omar", "message": "x"}', 400, "parse_error"),
    (b'{"user_id": "maya", "message": NaN}', 400, "parse_error"),
    (b"\xff\xfe", 400, "parse_error"),
    ({"user_id": "maya"}, 400, "invalid"),
    ({"message": "Hello"}, 400, "invalid"),
    ({"user_id": "maya", "message": ""}, 400, "invalid"),
    ({"user_id": "maya", "message": "  "}, 400, "invalid"),
    ({"user_id": "maya", "message": 7}, 400, "invalid"),
    ({"user_id": "maya", "message": ["x"]}, 400, "invalid"),
    ({"user_id": True, "message": "x"}, 400, "invalid"),
    ({"user_id": "maya", "message": "x\u0000"}, 400, "invalid"),
    (b'{"user_id": "maya", "message": "\\ud800"}', 400, "invalid"),
    ({"user_id": "maya", "message": "x" * 20_001}, 400, "invalid"),
    ({"user_id": "maya", "message": "x", "surprise": 1}, 400, "invalid"),
    ({"user_id": "maya", "message": "x", "session_id": "7"}, 400, "invalid"),
    ({"user_id": "maya", "message": "x", "confirm_actions": ["7"]}, 400, "invalid"),
    ({"user_id": "maya", "message": "x", "confirm_actions": "all"}, 400, "invalid"),
    ({"user_id": "maya", "message": "x", "edits": [{"id": str(uuid.uuid4())}]}, 400, "invalid"),
    (
        {
            "user_id": "maya",
            "message": "x",
            "confirm_actions": ["00000000-0000-4000-8000-000000000001"],
            "edits": [{"id": "00000000-0000-4000-8000-000000000001", "params": {"a": 1}}],
        },
        400,
        "invalid",
    ),
    ({"user_id": "nobody", "message": "x"}, 404, "unknown_user"),
    (
        {"user_id": "maya", "message": "x", "confirm_actions": [str(uuid.uuid4())]},
        404,
        "unknown_action",
    ),
    ({"user_id": "maya", "message": "x" * 2_000_000}, 413, "too_large"),
]


@pytest.mark.parametrize("path", ["/api/v1/chat", "/api/v1/chat/stream"])
@pytest.mark.parametrize(("body", "status", "code"), BAD, ids=range(len(BAD)))
def test_bad_input_is_refused_with_a_sentence_and_nothing_is_stored(
    token: str, path: str, body: Any, status: int, code: str
) -> None:
    response = post(token, body, path)

    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, code)
    assert error["message"].endswith((".", "”"))
    assert not Conversation.objects.exists()
    assert not Turn.objects.exists()


@pytest.mark.parametrize("model", [["Hello.", "Hello again."]], indirect=True)
def test_a_session_is_read_page_by_page(token: str, model: ScriptedModel) -> None:
    own = say(token, "Hello")["session_id"]
    say(token, "Again", own)

    client = Client(headers={"Authorization": f"Bearer {token}"})
    address, cursor = f"/api/v1/conversations/{own}?limit=3", None
    said: list[str] = []
    for _ in range(2):
        page = client.get(address + (f"&cursor={cursor}" if cursor else "")).json()
        said, cursor = [m["content"] for m in page["items"]] + said, page["next_cursor"]
    assert said == ["Hello", "Hello.", "Again", "Hello again."]
    assert cursor is None
    assert client.get(f"{address}&cursor=x").status_code == 400


@pytest.mark.parametrize("model", [["Hello."]], indirect=True)
def test_one_message_sent_twice_with_a_key_is_one_turn(token: str, model: ScriptedModel) -> None:
    body = {"user_id": "maya", "message": "Hello"}

    first = post(token, body, key="k1")
    again = post(token, body, key="k1")
    other = post(token, body | {"message": "Bye"}, key="k1")

    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json() == first.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert Turn.objects.count() == 1


@pytest.mark.parametrize("model", [["Hello.", "Hello again."]], indirect=True)
def test_a_frontend_may_make_the_id_of_a_session(token: str, model: ScriptedModel) -> None:
    own = str(uuid.uuid4())

    assert say(token, "Hello", own)["session_id"] == own
    assert say(token, "Again", own)["session_id"] == own

    assert [row.given_id for row in Conversation.objects.all()] == [uuid.UUID(own)]
    assert Turn.objects.count() == 2
    headers = {"Authorization": f"Bearer {token}"}
    listed = Client().get("/api/v1/conversations", {"user_id": "maya"}, headers=headers).json()
    read = Client().get(f"/api/v1/conversations/{own}", headers=headers).json()
    assert [row["id"] for row in listed["items"]] == [own]
    assert len(read["items"]) == 4


@pytest.mark.parametrize("model", [["Hello.", "Hello."]], indirect=True)
def test_another_users_session_is_as_unknown_as_none(token: str, model: ScriptedModel) -> None:
    """Under an id that nobody has a session begins, and so it does under somebody else's."""
    session = say(token, "Hello")["session_id"]

    answer = say(token, "Hi", session, user="omar")

    assert answer["session_id"] == session
    rows = Conversation.objects.order_by("external_user_id")
    assert [(row.external_user_id, row.messages.count()) for row in rows] == [
        ("maya", 2),
        ("omar", 2),
    ]


@pytest.mark.parametrize("model", [["Hello.", "Hello."]], indirect=True)
def test_another_organisations_session_and_turn_are_unknown(
    token: str, model: ScriptedModel
) -> None:
    answer = say(token, "Hello")
    other = Organisation.objects.create(slug="other", name="Other")
    Account.objects.create(organisation=other, external_user_id="maya", source="gmail")
    _, foreign = ServiceToken.issue(organisation=other, name="web", scopes=["chat"])
    headers = {"Authorization": f"Bearer {foreign}"}

    session = Client().get(f"/api/v1/conversations/{answer['session_id']}", headers=headers)
    turn = Client().get(f"/api/v1/turns/{answer['turn_id']}", headers=headers)

    assert (session.status_code, turn.status_code) == (404, 404)
    assert say(foreign, "Hi", answer["session_id"])["session_id"] == answer["session_id"]
    rows = Conversation.objects.order_by("created_at")
    assert [(row.organisation.slug, row.messages.count()) for row in rows] == [
        ("default", 2),
        ("other", 2),
    ]


def test_a_second_message_while_the_first_is_worked_on_is_refused(
    token: str, organisation: Organisation
) -> None:
    conversation = Conversation.objects.create(organisation=organisation, external_user_id="maya")
    Turn.objects.create(
        organisation=organisation, external_user_id="maya", kind="chat", conversation=conversation
    )

    response = post(token, {"user_id": "maya", "message": "Hi", "session_id": str(conversation.id)})

    assert (response.status_code, response.json()["error"]["code"]) == (409, "turn_running")
    assert not Message.objects.exists()


@pytest.mark.parametrize("model", [["Hello."] * 42], indirect=True, ids=["long"])
def test_the_number_of_queries_does_not_grow_with_the_conversation(
    token: str,
    model: ScriptedModel,
    django_assert_max_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A token's last use is noted once a minute: not in the middle of the counting.
    monkeypatch.setattr(authentication, "USED_EVERY", timedelta(days=1))
    session = say(token, "Hello")["session_id"]
    with django_assert_max_num_queries(55) as few:
        say(token, "Hello", session)
    for _ in range(39):
        say(token, "Hello", session)
    with django_assert_max_num_queries(55) as many:
        say(token, "Hello", session)

    assert len(many) == len(few)


@pytest.mark.parametrize("model", [["Hello."]], indirect=True)
def test_a_session_can_be_listed_read_and_deleted(
    token: str, model: ScriptedModel, settings: Any
) -> None:
    session = say(token, "Hello")["session_id"]
    client = Client(headers={"Authorization": f"Bearer {token}"})

    listed = client.get("/api/v1/conversations?user_id=maya").json()
    messages = client.get(f"/api/v1/conversations/{session}").json()
    deleted = client.delete(f"/api/v1/conversations/{session}")

    assert listed["next_cursor"] is messages["next_cursor"] is None
    (row,) = listed["items"]
    assert (row["id"], row["title"], row["waits_for_person"]) == (session, "Hello", False)
    assert [(m["role"], m["content"]) for m in messages["items"]] == [
        ("user", "Hello"),
        ("assistant", "Hello."),
    ]
    asked, said = (m["metadata"] for m in messages["items"])
    assert asked is None
    assert said == {"tool_calls": [], "token_count": 15, "model": settings.CHAT_MODEL}
    assert deleted.status_code == 204
    assert client.get(f"/api/v1/conversations/{session}").status_code == 404


LOOKED = {"query": "Look at https://evil.example/?q=1", "surprise": 1}


@pytest.mark.parametrize("model", [[calls(("retrieve_context", LOOKED)), "No."]], indirect=True)
def test_what_tools_were_asked_and_gave_back_can_be_read(token: str, model: ScriptedModel) -> None:
    session = say(token, "Look")["session_id"]
    client = Client(headers={"Authorization": f"Bearer {token}"})

    plain = client.get(f"/api/v1/conversations/{session}").json()["items"]
    whole = client.get(f"/api/v1/conversations/{session}?tools=true").json()["items"]

    assert [one["role"] for one in plain] == ["user", "assistant"]
    assert [one["role"] for one in whole] == ["user", "tool", "assistant"]
    [call] = plain[1]["metadata"]["tool_calls"]
    assert (call["name"], call["success"]) == ("retrieve_context", False)
    assert "surprise" in call["arguments"]
    assert "https://evil.example" not in call["arguments"]
    tool = whole[1]
    assert (tool["id"], tool["turn_id"]) == (call["id"], plain[1]["turn_id"])
    assert (tool["metadata"], tool["citations"]) == (None, [])
    given = json.loads(tool["content"])
    assert (given["success"], given["error"]["code"]) == (False, "INVALID_INPUT")
    assert Message.objects.count() == 2


def test_a_process_that_lost_its_lease_writes_nothing_more(organisation: Organisation) -> None:
    turn = Turn.objects.create(organisation=organisation, external_user_id="maya", kind="chat")
    first = leases.claim(turn.id)
    assert first is not None
    assert leases.claim(turn.id) is None
    Turn.objects.filter(id=turn.id).update(lease_expires_at="2000-01-01T00:00:00Z")
    second = leases.claim(turn.id)
    assert second is not None

    with pytest.raises(leases.LeaseLost):
        journal.emit(first, "text.delta", {"text": "late"})

    journal.emit(second, "text.delta", {"text": "on time"})
    assert [e.data for e in turn.events.all()] == [{"text": "on time"}]
    assert not ToolCall.objects.exists()

"""Answers under review: over the chat API, with a scripted model and a scripted reviewer."""

import json
from typing import Any

import pytest

from agents.models import Step, ToolCall, TurnEvent
from guardrails.contracts import ActionRequest, ActionResult
from guardrails.execute import executor
from integrations.models import Account, Organisation, ServiceToken
from sandbox.offline_model import chat_request, message_order
from tests.agents.api.test_views import ORCHESTRATOR, say
from tests.model_server import Failure, Message, Reply, calls, exchanged, scripted_model

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
REVIEWER = "You are Remit's reviewer."
LOOK = ("retrieve_context", {"query": "Q4"})
GOAL = {"id": "q4", "description": "Q4", "steps": [{"id": "look", "description": "Look"}]}
# Work by a plan in which something is done: what was only read is not reviewed.
DEED = ("execute_action", {"action_type": "archive", "params": {"email_id": "mail_1"}})
PLAN = {"action": "create", "goals": [GOAL]}
WORK: list[Reply] = [
    calls(("toDoWrite", PLAN)),
    calls(LOOK, DEED, ("toDoWrite", {"action": "complete", "ids": ["look"]})),
]
FINE = {
    "quality_score": 0.9,
    "completeness": 0.9,
    "relevance": 1.0,
    "gaps": [],
    "suggested_actions": [],
    "recommendation": "proceed",
}
LACKING = FINE | {
    "completeness": 0.4,
    "gaps": ["The drive was not searched."],
    "suggested_actions": ["Search documents"],
    "recommendation": "gather_more",
}


def carry_out(request: ActionRequest, **_: Any) -> ActionResult:
    return ActionResult(
        status="succeeded", action_id=request.action_id, action_type=request.action_type
    )


@pytest.fixture
def token(settings: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whatever is asked for in its office is done."""
    monkeypatch.setattr(executor, "execute", carry_out)
    settings.REVIEW_MIN_CALLS, settings.REVIEW_EVERY_CALLS = 1, 0
    settings.REVIEW_MAX_ROUNDS = 2
    found = Organisation.objects.create(slug="default", name="Default")
    Account.objects.create(organisation=found, external_user_id="maya", source="gmail")
    return ServiceToken.issue(organisation=found, name="web", scopes=["chat", "approvals"])[1]


def ask(
    token: str, settings: Any, orchestrator: list[Reply], reviewer: list[Reply]
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """The answer, and what both models were asked. Every request is one a real API takes."""
    with scripted_model(settings, {ORCHESTRATOR: orchestrator, REVIEWER: reviewer}) as model:
        answer = say(token, "What about Q4?")
    for body in model.chats():
        message_order.check(chat_request.parse(json.dumps(body).encode()).messages)
    return answer, model.chats(ORCHESTRATOR), model.chats(REVIEWER)


def log() -> list[dict[str, Any]]:
    events = TurnEvent.objects.filter(type="decision", data__decision="review")
    return list(events.order_by("sequence").values_list("data", flat=True))


def test_an_answer_with_gaps_goes_back_until_the_review_is_content(
    token: str, settings: Any
) -> None:
    again = calls(("retrieve_context", {"query": "Q4", "sources": ["gdrive"]}))
    answer, asked, reviewed = ask(
        token, settings, [*WORK, "Mail says nothing.", again, "Nothing at all."], [LACKING, FINE]
    )

    assert answer["response"] == "Nothing at all."
    sent_back = exchanged(asked[3])[-2:]
    assert sent_back[0]["content"] == "Mail says nothing."
    assert sent_back[0]["tool_calls"][0]["function"] == {
        "name": "review_results",
        "arguments": '{"of":"answer"}',
    }
    told = json.loads(sent_back[1]["content"])["data"]
    assert told["gaps"] == ["The drive was not searched."]
    assert told["next"] == "Gather what is missing, then answer again."
    assert answer["review"]["recommendation"] == "proceed"
    assert [one["recommendation"] for one in log()] == ["gather_more", "proceed"]
    material = json.loads(reviewed[1]["messages"][1]["content"])
    assert material["request"] == "What about Q4?"
    assert [call["tool"] for call in material["calls"]] == [
        "toDoWrite",
        "retrieve_context",
        "execute_action",
        "toDoWrite",
        "review_results",
        "retrieve_context",
    ]
    assert material["answer"] == "Nothing at all."


def test_replanning_is_bounded_and_then_the_answer_is_taken(token: str, settings: Any) -> None:
    settings.REVIEW_MAX_ROUNDS = 1
    replan = LACKING | {"recommendation": "replan"}
    answer, asked, reviewed = ask(token, settings, [*WORK, "First.", "Second."], [replan, replan])

    assert answer["response"] == "Second."
    assert (len(asked), len(reviewed)) == (4, 2)
    assert answer["review"]["gaps"] == ["The drive was not searched."]


@pytest.mark.parametrize(
    "reviewer",
    [[Failure(500)], ["no json"] * 3, [{"quality_score": 7}]],
    ids=["away", "no json", "no review"],
)
def test_a_review_that_fails_loses_no_answer(
    token: str, settings: Any, reviewer: list[Reply]
) -> None:
    answer, _, _ = ask(token, settings, [*WORK, "Nothing was found."], reviewer)

    assert (answer["status"], answer["response"]) == ("finished", "Nothing was found.")
    assert [one["by"] for one in log()] == ["records"]
    assert [one["quality_score"] for one in log()] == [None]


@pytest.mark.parametrize("then", [Failure(500), ""], ids=["away", "empty"])
def test_a_model_that_fails_at_mending_leaves_the_answer_it_had(
    token: str, settings: Any, then: Reply
) -> None:
    answer, _, _ = ask(token, settings, [*WORK, "First.", then], [LACKING])

    assert (answer["status"], answer["response"]) == ("finished", "First.")


def test_a_limit_while_mending_leaves_the_answer_it_had(token: str, settings: Any) -> None:
    settings.TURN_MAX_STEPS = 4
    again = calls(("retrieve_context", {"query": "other"}))
    answer, _, _ = ask(token, settings, [*WORK, "First.", again], [LACKING])

    assert (answer["status"], answer["response"]) == ("finished", "First.")


def test_what_the_records_prove_binds_a_reviewer_that_is_content(token: str, settings: Any) -> None:
    answer, asked, reviewed = ask(
        token, settings, [calls(LOOK), "I sent the mail.", "Nothing was found."], [FINE]
    )

    material = json.loads(reviewed[0]["messages"][1]["content"])
    assert material["proved_gaps"] == ["The answer claims an action that the ledger lacks."]
    shown = json.loads(exchanged(asked[2])[-1]["content"])["data"]
    assert shown["recommendation"] == "revise"
    assert shown["next"] == "Write the answer again with this put right. Do nothing again."
    assert answer["response"] == "Nothing was found."


def test_the_reviewer_sends_the_turn_to_the_user(token: str, settings: Any) -> None:
    unclear = LACKING | {"recommendation": "clarify_query"}
    question = calls(("ask_user", {"question": "Which year?", "options": ["2025", "2026"]}))
    answer, asked, _ = ask(token, settings, [*WORK, "Q4 is fine.", question], [unclear])

    assert json.loads(exchanged(asked[3])[-1]["content"])["data"]["next"] == (
        "Ask the user with ask_user."
    )
    assert answer["clarification"]["question"] == "Which year?"


def test_long_work_is_reviewed_on_the_way_and_the_state_says_so(token: str, settings: Any) -> None:
    settings.REVIEW_MIN_CALLS, settings.REVIEW_EVERY_CALLS = 0, 2
    both = calls(DEED, ("toDoWrite", PLAN))
    more = calls(("retrieve_context", {"query": "c"}))
    answer, asked, reviewed = ask(token, settings, [both, more, "Nothing."], [LACKING])

    state = asked[1]["messages"][-2]
    assert state["role"] == "user"
    assert state["content"].startswith("[remit] ")
    assert '[review] "gather_more. Gather what is missing' in state["content"]
    assert "The drive was not searched." in state["content"]
    assert '[review] "gather_more.' in asked[2]["messages"][-2]["content"], "until the next is due"
    assert json.loads(reviewed[0]["messages"][1]["content"])["answer"] is None
    assert answer["review"] is None
    assert [one["of"] for one in log()] == ["work"]


@pytest.mark.parametrize(
    ("at_end", "midway", "planned"),
    [(4, 0, False), (0, 4, False), (4, 4, False), (1, 2, True)],
)
def test_long_reading_is_not_reviewed(
    token: str, settings: Any, at_end: int, midway: int, planned: bool
) -> None:
    """Nothing was done and nothing claimed: a reviewer could only find other words."""
    settings.REVIEW_MIN_CALLS, settings.REVIEW_EVERY_CALLS = at_end, midway
    looks = [("retrieve_context", {"query": word}) for word in ("a", "b", "c", "d", "e")]
    first = [("toDoWrite", PLAN)] if planned else []
    answer, asked, reviewed = ask(
        token,
        settings,
        [calls(*first, *looks[:3]), calls(*looks[3:]), "Nothing was found [7]."],
        [],
    )

    assert (answer["status"], answer["response"]) == ("finished", "Nothing was found.")
    assert (answer["review"], reviewed, log()) == (None, [], [])
    assert "[review]" not in json.dumps(asked)


def test_a_model_asks_for_a_review_itself_and_cannot_pass_for_the_server(
    token: str, settings: Any
) -> None:
    settings.REVIEW_MIN_CALLS = 0
    own = calls(("review_results", {"concern": "Is mail enough?"}))
    forged = calls(("review_results", {"of": "answer"}))
    answer, asked, reviewed = ask(token, settings, [own, forged, "Fine."], [LACKING])

    result = json.loads(exchanged(asked[1])[-1]["content"])
    assert result["data"]["completeness"] == 0.4
    assert "Is mail enough?" in json.loads(reviewed[0]["messages"][1]["content"])["request"]
    assert json.loads(exchanged(asked[2])[-1]["content"])["error"]["code"] == "INVALID_INPUT"
    assert answer["response"] == "Fine."


def test_what_was_sent_back_stays_in_the_rows(token: str, settings: Any) -> None:
    ask(token, settings, [*WORK, "First.", "Second."], [LACKING, FINE])

    texts = list(Step.objects.order_by("number").values_list("text", flat=True))
    assert texts == ["", "", "First.", "Second."]
    assert ToolCall.objects.filter(result__isnull=True).count() == 0


def test_a_short_answer_is_not_reviewed(token: str, settings: Any) -> None:
    answer, _, reviewed = ask(token, settings, [Message(text="Hello.")], [])

    assert (answer["response"], answer["review"], reviewed) == ("Hello.", None, [])

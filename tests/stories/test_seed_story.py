"""The seed's own story (integration architecture, section 7.2), word for word through HTTP."""

from typing import Any

import httpx
import pytest

from agents.models import Turn
from agents.turns.roster import AGENTS
from audit.models import ExecutedAgentAction
from integrations.models import ServiceToken
from tests.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def chat(office: Office) -> Any:
    office.sync()
    token = ServiceToken.issue(
        organisation=office.organisation, name="web", scopes=["chat", "approvals"]
    )[1]

    def post(**body: Any) -> dict[str, Any]:
        answer = httpx.post(
            f"{office.origin}/api/v1/chat",
            json={"user_id": "maya", **body},
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    return post


def test_two_johns_one_question_three_tasks_confirm_three_keys(office: Office, chat: Any) -> None:
    asked = chat(message="Create Jira tasks from John's proposal email")

    assert asked["response"] == "I found emails from multiple Johns. Which one did you mean?"
    assert asked["needs_clarification"] is True
    assert asked["clarification"] == {
        "question": "Which John did you mean?",
        "options": [
            "John Smith (john@company.com) - 5 recent emails",
            "John Doe (johnd@client.com) - 2 recent emails",
        ],
        "required_for": "identify correct email thread",
    }
    assert asked["pending_actions"] == []

    proposed = chat(message="John Smith", session_id=asked["session_id"])

    assert proposed["response"] == ("I found John Smith's proposal email. I've extracted 3 tasks:")
    assert proposed["needs_clarification"] is False
    pending = {action["description"]: action for action in proposed["pending_actions"]}
    assert sorted(pending) == [
        "Create a task in PROJ: “Payment Integration”",
        "Create a task in PROJ: “Setup CI/CD”",
        "Create a task in PROJ: “User Auth”",
    ]
    assert {action["type"] for action in pending.values()} == {"create_jira_task"}
    assert proposed["completed_actions"] == []
    assert any(used["title"] == "Proposal: customer portal" for used in proposed["context_used"])
    assert office.calls() == []

    order = [
        "Create a task in PROJ: “Setup CI/CD”",
        "Create a task in PROJ: “User Auth”",
        "Create a task in PROJ: “Payment Integration”",
    ]
    done = chat(
        message="",
        session_id=asked["session_id"],
        confirm_actions=[pending[description]["id"] for description in order],
    )

    assert done["response"] == (
        "Done! Created 3 tasks in Jira:\n"
        "- PROJ-101: Setup CI/CD\n"
        "- PROJ-102: User Auth\n"
        "- PROJ-103: Payment Integration"
    )
    assert done["pending_actions"] == []
    assert [
        (action["type"], action["result"]["task_key"]) for action in done["completed_actions"]
    ] == [
        ("create_jira_task", "PROJ-101"),
        ("create_jira_task", "PROJ-102"),
        ("create_jira_task", "PROJ-103"),
    ]
    assert all(action["result"]["url"] for action in done["completed_actions"])
    assert all(action["artifacts"][0]["kind"] == "issue" for action in done["completed_actions"])
    assert [call["performed"] for call in office.calls()] == [True, True, True]
    rows = ExecutedAgentAction.objects.filter(run_id=proposed["turn_id"]).order_by("id")
    phases = [(row.phase, row.status) for row in rows]
    assert phases.count(("control", "waiting")) == 3
    assert phases.count(("attempt", "pending")) == 3
    assert phases.count(("outcome", "succeeded")) == 3
    versions = {agent.name: agent.version for agent in AGENTS}
    assert all(row.agent_version == versions[row.agent_id] for row in rows)
    outcomes = [row for row in rows if row.phase == "outcome"]
    assert len({row.provider_request_id for row in outcomes} - {""}) == 3
    assert len({row.credential_ref for row in outcomes} - {""}) == 1


def test_confirming_twice_changes_nothing(office: Office, chat: Any) -> None:
    asked = chat(message="Create Jira tasks from John's proposal email")
    proposed = chat(message="John Smith", session_id=asked["session_id"])
    ids = [action["id"] for action in proposed["pending_actions"]]

    first = chat(message="", session_id=asked["session_id"], confirm_actions=ids)
    again = chat(message="", session_id=asked["session_id"], confirm_actions=ids)

    keys = [
        [action["result"]["task_key"] for action in a["completed_actions"]] for a in (first, again)
    ]
    assert sorted(keys[0]) == sorted(keys[1])
    assert len(office.calls()) == 3


def test_a_rejected_task_is_not_created_and_partial_success_is_said(
    office: Office, chat: Any
) -> None:
    asked = chat(message="Create Jira tasks from John's proposal email")
    proposed = chat(message="John Smith", session_id=asked["session_id"])
    ids = {action["description"]: action["id"] for action in proposed["pending_actions"]}
    rejected = ids.pop("Create a task in PROJ: “User Auth”")

    done = chat(
        message="",
        session_id=asked["session_id"],
        confirm_actions=list(ids.values()),
        reject_actions=[rejected],
    )

    assert len(done["completed_actions"]) == 2
    assert [a["id"] for a in done["refused_actions"]] == [rejected]
    assert "Created 2" in done["response"]
    assert len(office.calls()) == 2


def test_a_changed_task_waits_again_and_is_created_as_changed(office: Office, chat: Any) -> None:
    asked = chat(message="Create Jira tasks from John's proposal email")
    proposed = chat(message="John Smith", session_id=asked["session_id"])
    pending = {action["description"]: action for action in proposed["pending_actions"]}
    auth = pending.pop("Create a task in PROJ: “User Auth”")
    edit = {"id": auth["id"], "params": {"summary": "Single sign-on"}}

    changed = chat(message="", session_id=asked["session_id"], edits=[edit])

    assert changed["response"] == (
        "Changed:\n- Single sign-on: it waits for your confirmation as you changed it."
    )
    waiting = {action["description"]: action for action in changed["pending_actions"]}
    assert sorted(waiting) == sorted([*pending, "Create a task in PROJ: “Single sign-on”"])
    again = waiting["Create a task in PROJ: “Single sign-on”"]
    assert again["id"] != auth["id"]

    stale = chat(message="", session_id=asked["session_id"], confirm_actions=[auth["id"]])

    assert [action["sentence"] for action in stale["refused_actions"]] == [
        "A person changed this. The changed action takes its place."
    ]
    assert office.calls() == []

    done = chat(
        message="",
        session_id=asked["session_id"],
        confirm_actions=[again["id"]],
        digests={again["id"]: again["digest"]},
    )

    assert done["response"] == "Done! Created 1 task in Jira:\n- PROJ-101: Single sign-on"
    turn = Turn.objects.get(id=done["turn_id"])
    (told,) = turn.decisions
    assert (told["params"]["summary"], told["proposed"]["summary"]) == (
        "Single sign-on",
        "User Auth",
    )


def test_a_word_about_another_digest_decides_nothing(office: Office, chat: Any) -> None:
    asked = chat(message="Create Jira tasks from John's proposal email")
    proposed = chat(message="John Smith", session_id=asked["session_id"])
    chosen = proposed["pending_actions"][0]["id"]

    answer = chat(
        message="",
        session_id=asked["session_id"],
        confirm_actions=[chosen],
        digests={chosen: "0" * 64},
    )

    assert len(answer["pending_actions"]) == 3
    assert answer["completed_actions"] == []
    assert office.calls() == []

"""From a refusal to an allowed action, as a frontend goes through it."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from agents.tools.acting import ASKING
from guardrails.approve import change_requests
from guardrails.approve.requested_change import Proposal
from guardrails.models import AllowedActionOption, ChangeRequest
from integrations.models import ServiceToken
from tests.model_server import Reply, calls
from tests.office import Office
from tests.stories.steps import scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."
TASK = {"project_key": "OPS", "summary": "Buy plants", "type": "task"}
CREATE = calls(("execute_action", {"action_type": "create_jira_task", "params": TASK}))
PATH = "/api/v1/change-requests"


class Frontend:
    """A caller that may chat and decide for the office's users."""

    def __init__(self, office: Office) -> None:
        scopes = ["chat", "approvals"]
        _, token = ServiceToken.issue(organisation=office.organisation, name="web", scopes=scopes)
        self.http = httpx.Client(
            base_url=office.origin, headers={"Authorization": f"Bearer {token}"}, timeout=60
        )

    def say(self, *script: Reply) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The answer to a message, and the results of tools that the model was shown last."""
        with scripted({ORCHESTRATOR: list(script)}) as model:
            found = self.http.post("/api/v1/chat", json={"user_id": "maya", "message": "Go on"})
        assert found.status_code == 200, found.text
        body = model.chats(ORCHESTRATOR)[-1]
        shown = [json.loads(m["content"]) for m in body["messages"] if m["role"] == "tool"]
        return found.json(), shown

    def turn(self, answer: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self.http.get(f"/api/v1/turns/{answer['turn_id']}").json()
        return found


@pytest.fixture
def frontend(office: Office) -> Iterator[Frontend]:
    found = Frontend(office)
    with found.http:
        yield found


def test_a_refusal_is_asked_for_approved_and_the_same_wish_is_then_asked_about(
    office: Office, frontend: Frontend
) -> None:
    answer, [result] = frontend.say(CREATE, "That was refused.")

    (refused,) = answer["refused_actions"]
    assert (refused["can_be_asked_for"], refused["change_request"]) == (True, None)
    assert result["error"]["suggested_action"].endswith(ASKING)
    body = {"user_id": "maya", "action_id": refused["action_id"]}
    asked = frontend.http.post(PATH, json=body)
    assert asked.status_code == 201
    (waiting,) = frontend.turn(answer)["refused_actions"]
    assert waiting["can_be_asked_for"] is False
    assert waiting["change_request"]["state"] == "open"

    request = ChangeRequest.objects.select_related("account__organisation").get()
    proposal = change_requests.load_proposal(request)
    assert isinstance(proposal, Proposal)
    change_requests.approve(request.id, digest=proposal.digest, by="operator:olga")

    (approved,) = frontend.turn(answer)["refused_actions"]
    assert approved["change_request"]["state"] == "approved"
    said = approved["change_request"]["sentence"]
    assert said.startswith("Approved by operator olga at 20")
    assert " Europe/Stockholm. Nothing was done by that" in said, "on the user's clock"
    assert office.calls() == []
    again, _ = frontend.say(CREATE, "It waits.")
    (pending,) = again["pending_actions"]
    assert pending["provenance"]["project_key"] == "A"
    assert office.calls() == []


def test_a_model_cannot_ask_by_itself(office: Office, frontend: Frontend) -> None:
    wish = {"user_id": "maya", "action_id": "x"}
    tries = calls(("change_request", wish), ("ask_for_this", wish))

    answer, results = frontend.say(CREATE, tries, "That was refused.")

    assert [one["success"] for one in results] == [False] * 3
    assert not ChangeRequest.objects.exists()
    assert not AllowedActionOption.objects.filter(external_id="OPS").exists()
    unknown = [one for one in answer["refused_actions"] if one["type"].startswith("tool:")]
    assert [one["can_be_asked_for"] for one in unknown] == [False] * len(unknown)
    assert office.calls() == []


def test_what_a_mistake_of_form_refuses_cannot_be_asked_for(
    office: Office, frontend: Frontend
) -> None:
    answer, _ = frontend.say(
        calls(("execute_action", {"action_type": "create_jira_task", "params": {"type": "x"}})),
        "I could not.",
    )
    assert answer["refused_actions"] == []

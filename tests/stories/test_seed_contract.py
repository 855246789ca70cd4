"""The chat contract as the seed writes it down (integration architecture, 7.1), read from there
alone: what goes in, what comes back, and the session that is made under the caller's id."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from integrations.models import ServiceToken
from tests.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
# `class ChatResponse`, field by field.
RESPONSE: dict[str, tuple[type, ...]] = {
    "session_id": (str,),
    "message_id": (str,),
    "response": (str,),
    "context_used": (list,),
    "pending_actions": (list,),
    "completed_actions": (list,),
    "needs_clarification": (bool,),
    "clarification": (dict, type(None)),
}
ASK = "Create Jira tasks from John's proposal email"


def fits(answer: dict[str, Any]) -> bool:
    return all(isinstance(answer.get(name), kinds) for name, kinds in RESPONSE.items())


def test_a_client_of_the_seed_is_served(office: Office) -> None:
    office.sync()
    token = ServiceToken.issue(
        organisation=office.organisation, name="seed", scopes=["chat", "approvals"]
    )[1]
    session = str(uuid4())

    def chat(**fields: Any) -> dict[str, Any]:
        answer = httpx.post(
            f"{office.origin}/api/v1/chat",
            json={"user_id": "maya", "session_id": session, **fields},
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    # `confirm_actions: Optional[list[str]] = None`: null is as good as left out.
    asked = chat(message=ASK, confirm_actions=None)
    proposed = chat(message="John Smith")
    cards = proposed["pending_actions"]
    done = chat(message="", confirm_actions=[card["id"] for card in cards])
    first = chat(message="What can you do?", session_id=None)

    assert [fits(one) for one in (asked, proposed, done, first)] == [True] * 4
    assert [one["session_id"] for one in (asked, proposed, done)] == [session] * 3
    assert UUID(first["session_id"]) != UUID(session)
    assert len({one["message_id"] for one in (asked, proposed, done, first)}) == 4
    assert asked["clarification"].keys() == {"question", "options", "required_for"}
    assert proposed["clarification"] is None
    for used in proposed["context_used"]:
        assert {"id", "source", "title", "relevance"} <= used.keys()
    assert len(proposed["context_used"]) in range(1, 6)
    for card in cards:
        assert (card["type"], type(card["params"])) == ("create_jira_task", dict)
        assert card["params"]["summary"] in card["description"]
    assert done["pending_actions"] == []
    made = [one["result"] for one in done["completed_actions"]]
    assert [one["task_key"] for one in made] == ["PROJ-101", "PROJ-102", "PROJ-103"]
    assert all(one["url"].startswith("http") for one in made)

"""The sealer stands still for a quarter of an hour, and is started again."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from agents.models import Turn
from audit.models import ExecutedAgentAction
from integrations.models import ServiceToken
from tests.audit import sealed
from tests.audit.entries import append_action
from tests.office import Office

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def chat(office: Office, token: str, **body: Any) -> dict[str, Any]:
    answer = httpx.post(
        f"{office.origin}/api/v1/chat",
        json={"user_id": "maya", **body},
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_tasks_confirmed_meanwhile_are_not_made_and_a_newsletter_is_filed(
    office: Office, settings: Any
) -> None:
    settings.LEDGER_STOP_MINUTES = 15
    office.sync()
    token = ServiceToken.issue(
        organisation=office.organisation, name="web", scopes=["chat", "approvals"]
    )[1]
    asked = chat(office, token, message="Create Jira tasks from John's proposal email")
    proposed = chat(office, token, message="John Smith", session_id=asked["session_id"])
    ids = [action["id"] for action in proposed["pending_actions"]]
    assert len(ids) == 3
    sealed.seal(office.organisation.id)
    with sealed.recorded_before(timedelta(minutes=15)):
        append_action(tenant_id=office.organisation.id)

    refused = chat(office, token, message="", session_id=asked["session_id"], confirm_actions=ids)

    assert refused["completed_actions"] == []
    assert [one["id"] for one in refused["refused_actions"]] == ids
    assert "The ledger is not sealed" in refused["response"]
    assert office.calls() == []
    blocked = ExecutedAgentAction.objects.filter(run_id=proposed["turn_id"], phase="blocked")
    assert {row.decision_reason for row in blocked} == {"not_sealed"}
    assert blocked.count() == 3

    mail = office.deliver("newsletter")
    office.drain()
    assert "INBOX" not in office.mail(mail["id"])["labels"]
    assert Turn.objects.get(item_source_id=mail["id"]).ending == "pattern"
    calls = len(office.calls())

    sealed.seal(office.organisation.id)

    again = chat(office, token, message="Create Jira tasks from John's proposal email")
    proposed = chat(office, token, message="John Smith", session_id=again["session_id"])
    ids = [action["id"] for action in proposed["pending_actions"]]
    done = chat(office, token, message="", session_id=again["session_id"], confirm_actions=ids)
    assert len(done["completed_actions"]) == 3
    assert len(office.calls()) == calls + 3

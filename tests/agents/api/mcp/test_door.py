"""Other agents act through Remit: a real MCP client at the web process's own entrance."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from agents.api.mcp import door
from audit.ledger.ids import uuid7
from audit.ledger.selectors import recorded
from audit.models import ExecutedAgentAction
from guardrails.approve import approvals
from guardrails.execute.executor import execute
from integrations.models import Organisation, ServiceToken
from integrations.web.authentication import TokenThrottle
from tests.agents.api.mcp.outside import Outside
from tests.guardrails.office import settle

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
FYI = {"action": "classify"}


def last(outside: Outside, found: dict[str, Any]) -> Any:
    from uuid import UUID

    return recorded(UUID(found["action_id"]))[-1]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_it_is_offered_what_the_users_policy_has_room_for(outside: Outside, mode: str) -> None:
    outside.office.permit("archive")
    outside.office.permit("classify")
    outside.office.list_target("classify", "label", "label_fyi", "FYI")
    outside.office.permit("send_email", mode="never")

    tools = outside.tools(mode)

    assert list(tools) == ["search", "approval_status", "archive", "classify"]
    assert set(tools["archive"].input_schema["properties"]) == {"email_id"}
    assert "label_fyi (label: FYI)" in (tools["classify"].description or "")


def test_a_call_is_decided_carried_out_once_and_recorded(outside: Outside) -> None:
    office = outside.office
    office.permit("archive")
    email_id = office.receive()

    found = outside.call("archive", {"email_id": email_id})

    assert (found["status"], [call["performed"] for call in office.calls()]) == (
        "succeeded",
        [True],
    )
    row = last(outside, found)
    token = ServiceToken.objects.get()
    assert (row.trigger, row.agent_id, row.actor_id) == ("mcp", "mcp", f"token:{token.pk}")
    assert (row.on_behalf_of, row.actor_type) == (office.user_id, "agent")


def test_a_call_that_asks_waits_and_tells_where_a_person_decides(outside: Outside) -> None:
    office = outside.office
    office.permit("send_email")
    office.list_target("send_email", "recipient", "bob@company.com")
    office.permit("archive", mode="ask")
    email_id = office.receive()

    found = outside.call("archive", {"email_id": email_id})

    assert (found["status"], found["reason"]) == ("pending", "needs_approval")
    assert "A person decides" in found["decided_where"]
    assert office.calls() == []
    approval_id = found["approval_id"]
    assert outside.call("approval_status", {"approval_id": approval_id})["state"] == "pending"
    approvals.confirm(
        organisation_id=office.organisation.id, approval_id=approval_id, decided_by="operator:ada"
    )
    assert outside.call("approval_status", {"approval_id": approval_id})["state"] == "executed"
    assert len(office.calls()) == 1


def test_what_the_outside_agent_writes_are_not_the_users_words(outside: Outside) -> None:
    office = outside.office
    office.permit("send_email", agent_text=False)
    office.list_target("send_email", "recipient", "bob@company.com")
    mail = {"to": ["bob@company.com"], "subject": "Hello", "body": "Send it."}

    found = outside.call("send_email", mail)

    assert found["status"] == "pending"
    decision = last(outside, found).payload["decision"]
    assert decision["provenance"]["body"] == "X"
    assert office.calls() == []


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("archive", {"email_id": "mail-of-somebody-else"}, "object_unknown"),
        ("archive", {"email_id": "mail-1", "user_words": "archive mail-1"}, "invalid_arguments"),
        ("archive", {}, "invalid_arguments"),
        ("mark_read", {"email_id": "mail-1"}, "not_permitted"),
        ("create_filter", {"forward": "eve@evil.example"}, "unknown_action"),
        ("restore_labels", {"email_id": "mail-1"}, "unknown_action"),
        ("execute_action", {"action_type": "archive"}, "unknown_action"),
        ("send_email", {"to": ["eve@evil.example"], "subject": "x", "body": "y"}, "not_permitted"),
    ],
)
def test_what_is_refused_is_recorded_and_does_nothing(
    outside: Outside, name: str, arguments: dict[str, Any], reason: str
) -> None:
    outside.office.permit("archive")
    outside.office.receive(id="mail-1")

    found = outside.call(name, arguments)

    assert (found["status"], found["reason"]) == ("refused", reason)
    assert last(outside, found).phase == "blocked"
    assert outside.office.calls() == []


def test_a_repeated_call_with_its_key_is_one_action(outside: Outside) -> None:
    outside.office.permit("archive")
    email_id, key = outside.office.receive(), str(uuid7())

    first = outside.call("archive", {"email_id": email_id}, key)
    again = outside.call("archive", {"email_id": email_id}, key)

    assert first["action_id"] == again["action_id"] != key
    assert (again["status"], len(outside.office.calls())) == ("succeeded", 1)
    other = outside.call("archive", {"email_id": outside.office.receive()}, key)
    assert (other["status"], other["reason"]) == ("refused", "action_id_reused")
    assert len(outside.office.calls()) == 1


@pytest.mark.parametrize(
    "key",
    [
        "1",
        "0" * 36,
        "018c5d4e-0000-7000-8000-000000000000",
        "ffffffff-ffff-4fff-bfff-ffffffffffff",  # the year would be 10889
        "ffffffff-ffff-7fff-bfff-ffffffffffff",
    ],
)
def test_a_key_that_is_no_fresh_uuid_is_refused(outside: Outside, key: str) -> None:
    outside.office.permit("archive")

    found = outside.call("archive", {"email_id": outside.office.receive()}, key)

    assert (found["status"], found["reason"]) == ("refused", "invalid_key")
    assert outside.office.calls() == []
    rows = ExecutedAgentAction.objects.filter(tenant_id=outside.office.organisation.id)
    assert [(row.phase, row.action_type) for row in rows] == [("blocked", "tool:archive")]


def test_anothers_approval_is_as_unknown_as_none(
    outside: Outside, provider: Any, settings: Any
) -> None:
    known = settings.DATA_SERVICES, settings.DATA_SERVICE_KEYS
    stranger = settle(provider, settings)
    settings.DATA_SERVICES |= known[0]
    settings.DATA_SERVICE_KEYS |= known[1]
    stranger.permit("archive", mode="ask")
    asked = execute(stranger.request("archive", {"email_id": stranger.receive()}))
    assert asked.approval_id is not None

    found = outside.call("approval_status", {"approval_id": str(asked.approval_id)})

    assert found == outside.call("approval_status", {"approval_id": str(uuid7())})
    assert (found["status"], found["reason"]) == ("refused", "unknown_approval")
    assert stranger.calls() == []


Doorstep = Callable[[Outside], httpx.Response]


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Authorization": ""}, 401, "bad_token"),
        ({"Authorization": "Bearer remit_wrong"}, 401, "bad_token"),
        ({"Authorization": "Basic remit_wrong"}, 401, "bad_token"),
        ({"X-User-ID": "somebody-else"}, 404, "unknown_user"),
        ({"X-User-ID": ""}, 400, "no_user"),
        ({"Host": "evil.example"}, 421, "wrong_host"),
        ({"Origin": "https://evil.example"}, 403, "wrong_origin"),
        ({"Origin": "null"}, 403, "wrong_origin"),
    ],
    ids=str,
)
def test_who_may_not_come_in_learns_why(
    outside: Outside, headers: dict[str, str], status: int, code: str
) -> None:
    answer = outside.post(**headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    german = outside.post(**headers, **{"Accept-Language": "de"})
    assert (german.status_code, german.json()["code"]) == (status, code)
    assert german.headers["Content-Language"] == "de"
    assert german.json()["detail"] not in ("", answer.json()["detail"])


def test_a_token_opens_only_what_it_is_for(outside: Outside) -> None:
    ours, others = outside.office.organisation, Organisation.objects.create(slug="o", name="O")

    def told(**fields: Any) -> int:
        token = ServiceToken.issue(**{"organisation": ours, "scopes": ["mcp"]} | fields)[1]
        return outside.post(Authorization=f"Bearer {token}").status_code

    assert told(name="fits") == 200
    assert told(name="no scope", scopes=["chat", "approvals"]) == 403
    assert told(name="other user", user_ids=["somebody-else"]) == 404
    assert told(name="other house", organisation=others) == 404
    assert told(name="one user", user_ids=[outside.office.user_id]) == 200


def test_who_calls_too_often_hears_when_to_come_again(
    outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TokenThrottle, "rate", "1/minute", raising=False)
    outside.post()

    answer = outside.post(**{"Accept-Language": "es"})

    assert (answer.status_code, answer.json()["code"]) == (429, "throttled")
    said = "Demasiadas peticiones. Vuelva a intentarlo dentro de un minuto."
    assert answer.json()["detail"] == said
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


def test_a_logged_in_operator_is_nobody_here(outside: Outside) -> None:
    assert outside.post(Authorization="", Cookie="sessionid=x").status_code == 401


def test_only_posts_of_a_bounded_size_are_taken(outside: Outside, settings: Any) -> None:
    headers = outside.headers(Accept="text/event-stream")
    assert httpx.get(outside.url, headers=headers).status_code == 405
    assert httpx.delete(outside.url, headers=headers).status_code == 405
    big = {"jsonrpc": "2.0", "id": 1, "method": "x" * settings.DATA_UPLOAD_MAX_MEMORY_SIZE}
    assert outside.post(big).status_code == 413


def test_without_the_package_everybody_learns_what_to_install(
    outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "is_installed", lambda: False)

    answer = outside.post()

    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_installed")
    assert "pip install" in answer.json()["error"]["message"]

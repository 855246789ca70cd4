"""Against what the schema (schema.ocsf.io/1.6.0/classes/api_activity) requires."""

from typing import Any

import pytest

from audit.formats import ocsf

ROW: dict[str, Any] = {
    "account_id": "0198c0de-0000-4000-8000-000000000001",
    "action_id": "0198c0de-0000-7000-8000-000000000002",
    "action_type": "send_email",
    "actor_id": "",
    "actor_type": "agent",
    "agent_id": "email",
    "agent_version": "3",
    "approval_id": "",
    "approved_by": "",
    "artifacts_digest": "",
    "attempt_no": 1,
    "decision": "allowed",
    "decision_reason": "performed",
    "envelope_mac": "aa",
    "error_code": "",
    "idempotency_key": "remit-1",
    "leaf_hash": "bb",
    "leaf_index": 7,
    "model_id": "gpt",
    "occurred_at": "2026-11-21T10:00:00.000000Z",
    "on_behalf_of": "maya",
    "parent_action_id": None,
    "pattern_id": "",
    "payload": {"arguments": {"to": ["ann@client.com"]}},
    "payload_commitment": "cc",
    "phase": "outcome",
    "policy_digest": "dd",
    "provider": "gmail",
    "recorded_at": "2026-11-21T10:00:01.500000Z",
    "resource_key": "ee",
    "resource_type": "email",
    "run_id": "turn-1",
    "skill_ref": "",
    "status": "succeeded",
    "target_group_id": "",
    "target_id": "ann@client.com",
    "target_key": "ff",
    "target_row": None,
    "tenant_id": "0198c0de-0000-4000-8000-000000000003",
    "trace_id": "",
    "trigger": "chat",
}
REQUIRED = {
    *("activity_id", "category_uid", "class_uid", "severity_id", "time", "type_uid"),
    *("metadata", "actor", "api", "src_endpoint"),
}
CAPTIONS = {0: "Unknown", 1: "Success", 2: "Failure"}


def test_a_row_becomes_this_event() -> None:
    assert ocsf.event(ROW) == {
        "category_uid": 6,
        "class_uid": 6003,
        "activity_id": 99,
        "activity_name": "send_email",
        "type_uid": 600399,
        "severity_id": 1,
        "time": 1795255201500,
        "status_id": 1,
        "status": "Success",
        "action_id": 1,
        "action": "Allowed",
        "metadata": {
            "version": "1.6.0",
            "profiles": ["security_control"],
            "product": {"name": "Remit", "vendor_name": "Remit"},
            "uid": "0198c0de-0000-7000-8000-000000000002/1/outcome",
            "tenant_uid": "0198c0de-0000-4000-8000-000000000003",
            "sequence": 7,
            "original_time": "2026-11-21T10:00:00.000000Z",
        },
        "actor": {"app_name": "email@3", "user": {"uid": "maya"}},
        "api": {
            "operation": "send_email",
            "request": {"uid": "remit-1"},
            "service": {"name": "gmail"},
        },
        "src_endpoint": {"svc_name": "Remit"},
        "resources": [{"uid": "ee", "type": "email"}],
        "policy": {"uid": "dd"},
        "unmapped": {
            "account_id": "0198c0de-0000-4000-8000-000000000001",
            "actor_type": "agent",
            "decision_reason": "performed",
            "envelope_mac": "aa",
            "leaf_hash": "bb",
            "leaf_index": 7,
            "model_id": "gpt",
            "payload_commitment": "cc",
            "run_id": "turn-1",
            "target_key": "ff",
            "trigger": "chat",
        },
    }


@pytest.mark.parametrize(
    ("action_type", "activity"),
    [("create_document", 1), ("update_jira_task", 3), ("delete_draft", 4), ("archive", 99)],
)
@pytest.mark.parametrize("status", [*ocsf.STATUSES, "pending", "waiting"])
def test_what_is_required_is_there_and_codes_fit_their_captions(
    action_type: str, activity: int, status: str
) -> None:
    found = ocsf.event(ROW | {"action_type": action_type, "status": status})
    assert found.keys() >= REQUIRED
    assert found["activity_id"] == activity
    assert found["type_uid"] == 600300 + activity
    assert found["status"] == CAPTIONS.get(found["status_id"], status)
    assert (found["status_id"] == 99) == (status in ("pending", "waiting"))


@pytest.mark.parametrize(
    ("decision", "action", "severity"),
    [("allowed", 1, 1), ("approved", 1, 1), ("blocked", 2, 2), ("none", 0, 1)],
)
def test_a_refusal_is_a_denial(decision: str, action: int, severity: int) -> None:
    found = ocsf.event(ROW | {"decision": decision})
    assert (found["action_id"], found["severity_id"]) == (action, severity)


def test_a_row_about_the_ledger_itself_needs_no_provider() -> None:
    bare = dict.fromkeys(
        ("provider", "resource_key", "agent_id", "agent_version", "idempotency_key"), ""
    )
    found = ocsf.event(ROW | bare | {"on_behalf_of": "", "actor_id": "operator:olga"})
    assert found["actor"] == {"app_name": "Remit", "user": {"uid": "operator:olga"}}
    assert found["api"] == {"operation": "send_email", "request": {"uid": ROW["action_id"]}}
    assert "resources" not in found


def test_no_text_of_the_payload_leaves() -> None:
    assert "ann@client.com" not in str(ocsf.event(ROW))

"""A row of the ledger as an event of the Open Cybersecurity Schema Framework (schema.ocsf.io),
version 1.6.0: class API Activity (6003) with the profile Security Control. Pure.

A view for tools that read many sources; never evidence. What has no place in the schema is
under `unmapped`. Names, addresses and texts stay out: only codes and ids leave.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

VERSION = "1.6.0"
CATEGORY, CLASS = 6, 6003
OTHER = 99
ACTIVITIES = {"create": 1, "update": 3, "delete": 4, "cancel": 4}
STATUSES = {
    "succeeded": (1, "Success"),
    "noop": (1, "Success"),
    "recorded": (1, "Success"),
    "failed": (2, "Failure"),
    "blocked": (2, "Failure"),
    "denied": (2, "Failure"),
    "unknown": (0, "Unknown"),
}
ALLOWED, DENIED, UNKNOWN = (1, "Allowed"), (2, "Denied"), (0, "Unknown")
ACTIONS = {"allowed": ALLOWED, "approved": ALLOWED, "blocked": DENIED}
INFORMATIONAL, LOW = 1, 2
# Columns without a place of their own in the schema.
UNMAPPED = (
    *("account_id", "actor_type", "approval_id", "approved_by", "artifacts_digest"),
    *("decision_reason", "envelope_mac", "error_code", "leaf_hash", "leaf_index", "model_id"),
    *("parent_action_id", "pattern_id", "payload_commitment", "run_id", "skill_ref"),
    *("target_group_id", "target_key", "target_row", "trace_id", "trigger"),
)


def event(row: Mapping[str, Any]) -> dict[str, Any]:
    """The event of one row, as it is exported; with its place, if it is known."""
    operation, _, _ = row["action_type"].partition("_")
    activity = ACTIVITIES.get(operation, OTHER)
    status_id, status = STATUSES.get(row["status"], (OTHER, row["status"]))
    action_id, action = ACTIONS.get(row["decision"], UNKNOWN)
    return {
        "category_uid": CATEGORY,
        "class_uid": CLASS,
        "activity_id": activity,
        "activity_name": row["action_type"],
        "type_uid": CLASS * 100 + activity,
        "severity_id": LOW if row["decision"] == "blocked" else INFORMATIONAL,
        "time": milliseconds(row["recorded_at"]),
        "status_id": status_id,
        "status": status,
        **({"status_code": row["error_code"]} if row["error_code"] else {}),
        "action_id": action_id,
        "action": action,
        "metadata": {
            "version": VERSION,
            "profiles": ["security_control"],
            "product": {"name": "Remit", "vendor_name": "Remit"},
            "uid": f"{row['action_id']}/{row['attempt_no']}/{row['phase']}",
            "tenant_uid": row["tenant_id"],
            **({"sequence": row["leaf_index"]} if "leaf_index" in row else {}),
            "original_time": row["occurred_at"],
        },
        "actor": {
            "app_name": "@".join(filter(None, (row["agent_id"], row["agent_version"]))) or "Remit",
            **user(row["on_behalf_of"] or row["actor_id"]),
        },
        "api": {
            "operation": row["action_type"],
            "request": {"uid": row["idempotency_key"] or row["action_id"]},
            **({"service": {"name": row["provider"]}} if row["provider"] else {}),
        },
        "src_endpoint": {"svc_name": "Remit"},
        **resources(row),
        **({"policy": {"uid": row["policy_digest"]}} if row["policy_digest"] else {}),
        "unmapped": {name: row[name] for name in UNMAPPED if row.get(name) not in (None, "")},
    }


def user(uid: str) -> dict[str, Any]:
    return {"user": {"uid": uid}} if uid else {}


def resources(row: Mapping[str, Any]) -> dict[str, Any]:
    if not row["resource_key"]:
        return {}
    kind = {"type": row["resource_type"]} if row["resource_type"] else {}
    return {"resources": [{"uid": row["resource_key"], **kind}]}


def milliseconds(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp() * 1000)

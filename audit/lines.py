"""The line that stands for a row wherever it is hashed: in seals, bundles, verification.

PostgreSQL writes it from what is *stored*: an object of the columns in alphabetical order
without blanks, which is canonical JSON (RFC 8785) of it. Times are in UTC with microseconds.
This list never changes: hashes of old rows depend on it. A further column needs a further
`schema_version` with a line of its own.
"""

COLUMNS = (
    *("account_id", "action_id", "action_type", "actor_id", "actor_type", "agent_id"),
    *("agent_version", "approval_id", "approved_by", "artifacts_digest", "attempt_no"),
    *("credential_ref", "decision", "decision_reason", "envelope_mac", "error_code", "id"),
    *("idempotency_key", "latency_ms", "model_id", "occurred_at", "on_behalf_of"),
    *("parent_action_id", "pattern_id", "payload_commitment", "phase", "policy_digest"),
    *("provider", "provider_request_id", "recorded_at", "resource_key", "resource_type", "run_id"),
    *("schema_version", "skill_ref", "status", "target_group_id", "target_key", "target_row"),
    *("tenant_id", "trace_id", "trigger", "xact"),
)
TIME = "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
FORMS = {"occurred_at": TIME, "recorded_at": TIME, "xact": "{}::text"}


def column(name: str) -> str:
    stored = f'a."{name}"'
    return f'{FORMS.get(name, "{}").format(stored)} AS "{name}"'


# For queries in which `a` is audit_action.
LINE = (
    "(SELECT row_to_json(line)::text FROM (SELECT "  # noqa: S608  # the names are listed above
    f"{', '.join(map(column, COLUMNS))}) AS line)"
)
LEAF_HASH = f"sha256('\\x00'::bytea || convert_to({LINE}, 'UTF8'))"

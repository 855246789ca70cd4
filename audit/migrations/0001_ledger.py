"""The ledger's tables and what keeps them append-only. Plain SQL, so that an auditor can
read it here and compare it with the database (`\\d+ audit_action`)."""

from django.db import migrations, models

TABLES = """
CREATE TABLE audit_action (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    action_id uuid NOT NULL CHECK (substr(action_id::text, 15, 1) = '7'),
    phase text NOT NULL
        CHECK (phase IN ('attempt', 'outcome', 'blocked', 'control', 'redaction')),
    attempt_no smallint NOT NULL CHECK (attempt_no > 0),
    schema_version smallint NOT NULL,
    tenant_id uuid NOT NULL,
    account_id uuid,
    actor_type text NOT NULL
        CHECK (actor_type IN ('agent', 'user', 'admin', 'recovery', 'maintenance', 'system')),
    actor_id text NOT NULL,
    on_behalf_of text NOT NULL,
    credential_ref text NOT NULL,
    agent_id text NOT NULL,
    agent_version text NOT NULL,
    model_id text NOT NULL,
    skill_ref text NOT NULL,
    pattern_id text NOT NULL,
    "trigger" text NOT NULL,
    run_id text NOT NULL,
    trace_id text NOT NULL,
    parent_action_id uuid,
    provider text NOT NULL,
    resource_type text NOT NULL,
    resource_key text NOT NULL,
    action_type text NOT NULL CHECK (action_type <> ''),
    target_key text NOT NULL,
    target_group_id text NOT NULL,
    decision text NOT NULL CHECK (decision IN ('allowed', 'blocked', 'approved', 'none')),
    decision_reason text NOT NULL,
    policy_digest text NOT NULL,
    approval_id text NOT NULL,
    approved_by text NOT NULL,
    idempotency_key text NOT NULL,
    status text NOT NULL
        CHECK (status IN ('pending', 'succeeded', 'noop', 'failed', 'blocked', 'waiting',
                          'denied', 'unknown', 'recorded')),
    error_code text NOT NULL,
    provider_request_id text NOT NULL,
    latency_ms integer,
    target_row bigint,
    payload_commitment text NOT NULL,
    artifacts_digest text NOT NULL,
    envelope_mac text NOT NULL,
    occurred_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    xact xid8 NOT NULL DEFAULT pg_current_xact_id(),
    CONSTRAINT audit_action_attempt_is_pending CHECK (phase <> 'attempt' OR status = 'pending'),
    CONSTRAINT audit_action_outcome_is_final CHECK (
        phase <> 'outcome' OR status IN ('succeeded', 'noop', 'failed', 'unknown'))
);
-- Of two racing writers of one phase the first one counts.
CREATE UNIQUE INDEX audit_action_phase_once ON audit_action (action_id, attempt_no, phase)
    WHERE phase IN ('attempt', 'outcome', 'blocked');
CREATE INDEX audit_action_timeline ON audit_action (action_id, id);
CREATE INDEX audit_action_tenant ON audit_action (tenant_id, action_id, id);
CREATE INDEX audit_action_account ON audit_action (account_id, action_id, id);
CREATE INDEX audit_action_run ON audit_action (run_id, action_id, id) WHERE run_id <> '';

CREATE TABLE audit_payload (
    row_id bigint PRIMARY KEY,
    tenant_id uuid NOT NULL,
    salt bytea NOT NULL,
    body text NOT NULL
);

CREATE TABLE audit_artifact (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    row_id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    action_id uuid NOT NULL,
    attempt_no smallint NOT NULL,
    ordinal smallint NOT NULL,
    kind text NOT NULL,
    provider text NOT NULL,
    external_id text NOT NULL,
    url_key text NOT NULL,
    digest text NOT NULL,
    UNIQUE (row_id, ordinal)
);
CREATE INDEX audit_artifact_external ON audit_artifact (tenant_id, external_id);
"""

# The payload is guarded like the rest: erasing comes with its own door and its own row.
# ENABLE ALWAYS: session_replication_role = replica does not switch these off.
GUARD = """
CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION 'The ledger only inserts: % on % is refused.', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;
""" + "".join(
    f"""
CREATE TRIGGER {table}_keep BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER {table}_keep_all BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_keep;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_keep_all;
"""
    for table in ("audit_action", "audit_payload", "audit_artifact")
)

# Going back is possible only while there is nothing to lose.
UNDO = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM audit_action) THEN
        RAISE EXCEPTION 'The ledger holds rows. It is not dropped.';
    END IF;
END $$;
DROP TABLE audit_artifact, audit_payload, audit_action;
DROP FUNCTION audit_refuse();
"""


class Migration(migrations.Migration):
    initial = True

    dependencies: list[tuple[str, str]] = []

    operations = [
        migrations.RunSQL(TABLES + GUARD, UNDO),
        # Unmanaged: Django only needs to know that they exist, for permissions. The columns
        # are those of the SQL above.
        *(
            migrations.CreateModel(
                name=name,
                fields=[("id", models.BigAutoField(primary_key=True))],
                options={"managed": False, "db_table": table} | names,
            )
            for name, table, names in (
                (
                    "ExecutedAgentAction",
                    "audit_action",
                    {"verbose_name": "ledger entry", "verbose_name_plural": "ledger"},
                ),
                ("LedgerPayload", "audit_payload", {}),
                ("ActionArtifact", "audit_artifact", {"ordering": ["row_id", "ordinal"]}),
            )
        ),
    ]

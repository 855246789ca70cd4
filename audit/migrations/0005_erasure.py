"""Erasing what a row is about: its payload and artifacts may go, in the transaction that
records which rows were erased and why. The row itself stays, so every proof stays good."""

from django.db import migrations

ERASURE = """
-- Holds are few, and are looked for before every erasure; so are erasures, by verification.
CREATE INDEX audit_action_hold ON audit_action (tenant_id) WHERE action_type = 'ledger.hold';
CREATE INDEX audit_action_redaction ON audit_action (tenant_id) WHERE phase = 'redaction';

CREATE FUNCTION audit_refuse_unless_redacted() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    about audit_action;
BEGIN
    IF TG_OP = 'DELETE' THEN
        SELECT * INTO about FROM audit_action WHERE action_id = OLD.action_id AND id = OLD.row_id;
        IF EXISTS (
            SELECT FROM audit_action h
            WHERE h.tenant_id = OLD.tenant_id AND h.action_type = 'ledger.hold'
              AND h.status = 'pending' AND h.on_behalf_of IN ('', about.on_behalf_of)
              AND NOT EXISTS (SELECT FROM audit_action r
                              WHERE r.action_id = h.action_id AND r.status = 'succeeded')
        ) THEN
            RAISE EXCEPTION 'A legal hold keeps row %.', OLD.row_id
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        IF about.phase <> 'redaction' AND about.action_type <> 'ledger.hold' AND EXISTS (
            SELECT FROM audit_action r
            JOIN audit_payload p ON p.action_id = r.action_id AND p.row_id = r.id
            WHERE r.xact = pg_current_xact_id() AND r.phase = 'redaction'
              AND r.tenant_id = OLD.tenant_id
              AND p.body::jsonb #> '{payload,rows}' @> to_jsonb(OLD.row_id)
        ) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'The ledger only inserts: % on % is refused.', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;

-- The one thing that the role for erasure may do: append a redaction, and erase the payloads
-- and artifacts of exactly the rows that it names. All of it or nothing.
CREATE FUNCTION audit_redact(entry jsonb, salt bytea, body text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    named bigint[] := ARRAY(SELECT jsonb_array_elements_text(body::jsonb #> '{payload,rows}'));
    made audit_action;
    erased integer;
BEGIN
    IF entry ->> 'phase' IS DISTINCT FROM 'redaction' THEN
        RAISE EXCEPTION 'Only a redaction erases.' USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO audit_action (COLUMNS)
    SELECT COLUMNS FROM jsonb_populate_record(NULL::audit_action, entry)
    RETURNING * INTO made;
    INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body)
    VALUES (made.id, made.action_id, made.tenant_id, salt, body);
    DELETE FROM audit_artifact a USING audit_action r
    WHERE r.id = ANY(named) AND r.tenant_id = made.tenant_id
      AND a.action_id = r.action_id AND a.row_id = r.id;
    DELETE FROM audit_payload p USING audit_action r
    WHERE r.id = ANY(named) AND r.tenant_id = made.tenant_id
      AND p.action_id = r.action_id AND p.row_id = r.id;
    GET DIAGNOSTICS erased = ROW_COUNT;
    IF erased <> cardinality(named) THEN
        RAISE EXCEPTION 'Of % rows, % have a payload to erase in this organisation.',
            cardinality(named), erased;
    END IF;
    RETURN made.id;
END $$;
REVOKE ALL ON FUNCTION audit_redact(jsonb, bytea, text) FROM PUBLIC;
""".replace(
    "COLUMNS",
    """action_id, phase, attempt_no, schema_version, tenant_id, account_id, actor_type, actor_id,
    on_behalf_of, credential_ref, agent_id, agent_version, model_id, skill_ref, pattern_id,
    "trigger", run_id, trace_id, parent_action_id, provider, resource_type, resource_key,
    action_type, target_key, target_group_id, decision, decision_reason, policy_digest,
    approval_id, approved_by, idempotency_key, status, error_code, provider_request_id,
    latency_ms, target_row, payload_commitment, artifacts_digest, envelope_mac, occurred_at""",
)


def guard(function: str) -> str:
    """The guard of what may be erased, with all its months."""
    return "".join(
        f"""
DROP TRIGGER {table}_keep ON {table};
CREATE TRIGGER {table}_keep BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION {function}();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_keep;
"""
        for table in ("audit_payload", "audit_artifact")
    )


# What was erased stays erased; the ledger goes on without the door.
UNDO = """
DROP FUNCTION audit_redact(jsonb, bytea, text);
DROP FUNCTION audit_refuse_unless_redacted();
DROP INDEX audit_action_hold, audit_action_redaction;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0004_months")]

    operations = [
        migrations.RunSQL(
            ERASURE + guard("audit_refuse_unless_redacted"), guard("audit_refuse") + UNDO
        )
    ]

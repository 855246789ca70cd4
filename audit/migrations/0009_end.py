"""An organisation's end: its data key may be destroyed, in the transaction that records it.
What says that something was erased, held, ended or left by retention cannot be erased."""

from importlib import import_module

from django.db import migrations

END = """
CREATE INDEX audit_action_end ON audit_action (tenant_id) WHERE action_type = 'ledger.end';

CREATE FUNCTION audit_refuse_unless_ended() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.wrapped IS NOT NULL AND NEW.wrapped IS NULL
       AND (NEW.tenant_id, NEW.made_at) = (OLD.tenant_id, OLD.made_at) THEN
        IF EXISTS (
            SELECT FROM audit_action h
            WHERE h.tenant_id = OLD.tenant_id AND h.action_type = 'ledger.hold'
              AND h.status = 'pending'
              AND NOT EXISTS (SELECT FROM audit_action r
                              WHERE r.action_id = h.action_id AND r.status = 'succeeded')
        ) THEN
            RAISE EXCEPTION 'A legal hold keeps the data key of %.', OLD.tenant_id
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        IF EXISTS (
            SELECT FROM audit_action r
            WHERE r.xact = pg_current_xact_id() AND r.tenant_id = OLD.tenant_id
              AND r.action_type = 'ledger.end' AND r.status = 'succeeded'
        ) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'The ledger only inserts: % on % is refused.', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;

-- The row that says so and the destruction of the key, or neither.
CREATE FUNCTION audit_end(entry jsonb, salt bytea, body text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    made audit_action;
BEGIN
    IF entry ->> 'action_type' IS DISTINCT FROM 'ledger.end'
       OR entry ->> 'tenant_id' = '00000000-0000-0000-0000-000000000000' THEN
        RAISE EXCEPTION 'Only the end of an organisation destroys its key.'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO audit_action (COLUMNS)
    SELECT COLUMNS FROM jsonb_populate_record(NULL::audit_action, entry)
    RETURNING * INTO made;
    INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body)
    VALUES (made.id, made.action_id, made.tenant_id, salt, body);
    UPDATE audit_data_key SET wrapped = NULL
    WHERE tenant_id = made.tenant_id AND wrapped IS NOT NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The organisation % has no data key.', made.tenant_id;
    END IF;
    RETURN made.id;
END $$;
REVOKE ALL ON FUNCTION audit_end(jsonb, bytea, text) FROM PUBLIC;
"""

KEPT = "about.action_type <> 'ledger.hold'"
KEPT_NOW = "about.action_type NOT IN ('ledger.hold', 'ledger.end', 'ledger.retention')"


def erasure() -> str:
    """The functions of the migration 0005."""
    functions: str = import_module("audit.migrations.0005_erasure").ERASURE
    return functions


def columns() -> str:
    inserted = erasure().partition("INSERT INTO audit_action (")[2]
    return inserted.partition(")")[0]


def guard_of_contents(kept: str) -> str:
    function = erasure()[erasure().index("CREATE FUNCTION audit_refuse_unless_redacted") :]
    function = function[: function.index("END $$;") + len("END $$;\n")]
    return function.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION").replace(KEPT, kept)


def guard_of_keys(function: str) -> str:
    return f"""
DROP TRIGGER audit_data_key_keep ON audit_data_key;
CREATE TRIGGER audit_data_key_keep BEFORE UPDATE OR DELETE ON audit_data_key
    FOR EACH ROW EXECUTE FUNCTION {function}();
ALTER TABLE audit_data_key ENABLE ALWAYS TRIGGER audit_data_key_keep;
"""


# What ended stays ended.
UNDO = """
DROP FUNCTION audit_end(jsonb, bytea, text);
DROP FUNCTION audit_refuse_unless_ended();
DROP INDEX audit_action_end;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0008_signing_keys")]

    operations = [
        migrations.RunSQL(
            END.replace("COLUMNS", columns())
            + guard_of_contents(KEPT_NOW)
            + guard_of_keys("audit_refuse_unless_ended"),
            guard_of_keys("audit_refuse") + guard_of_contents(KEPT) + UNDO,
        )
    ]

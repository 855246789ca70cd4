"""The sealer may record one kind of row: that the server's clock stepped back."""

from importlib import import_module

from django.db import migrations

CLOCK = """
CREATE FUNCTION audit_clock_step(entry jsonb, salt bytea, body text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    made audit_action;
BEGIN
    IF (entry ->> 'action_type', entry ->> 'phase', entry ->> 'status', entry ->> 'tenant_id')
       IS DISTINCT FROM
       ('ledger.clock', 'control', 'recorded', '00000000-0000-0000-0000-000000000000') THEN
        RAISE EXCEPTION 'Only a step of the clock is recorded by this.'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO audit_action (COLUMNS)
    SELECT COLUMNS FROM jsonb_populate_record(NULL::audit_action, entry)
    RETURNING * INTO made;
    INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body)
    VALUES (made.id, made.action_id, made.tenant_id, salt, body);
    RETURN made.id;
END $$;
REVOKE ALL ON FUNCTION audit_clock_step(jsonb, bytea, text) FROM PUBLIC;
"""


def columns() -> str:
    found: str = import_module("audit.migrations.0009_end").columns()
    return found


class Migration(migrations.Migration):
    dependencies = [("audit", "0017_policies_under_lock")]

    operations = [
        migrations.RunSQL(
            CLOCK.replace("COLUMNS", columns()),
            "DROP FUNCTION audit_clock_step(jsonb, bytea, text)",
        )
    ]

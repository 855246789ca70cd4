"""A data key may be wrapped anew, in the transaction that records it: for a new vault key.
And a hold that is set while an organisation ends comes either before or after that."""

from importlib import import_module

from django.db import migrations

REWRAP = """
-- The row that says so and the new wrapping, or neither. Only `before` is replaced.
CREATE FUNCTION audit_rewrap(entry jsonb, salt bytea, body text, before bytea, after bytea)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    made audit_action;
BEGIN
    IF entry ->> 'action_type' IS DISTINCT FROM 'ledger.rewrap' THEN
        RAISE EXCEPTION 'Only a row that says so wraps a data key anew.'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO audit_action (COLUMNS)
    SELECT COLUMNS FROM jsonb_populate_record(NULL::audit_action, entry)
    RETURNING * INTO made;
    INSERT INTO audit_payload (row_id, action_id, tenant_id, salt, body)
    VALUES (made.id, made.action_id, made.tenant_id, salt, body);
    UPDATE audit_data_key SET wrapped = after
    WHERE tenant_id = made.tenant_id AND wrapped = before;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The data key of % was changed or destroyed meanwhile.', made.tenant_id;
    END IF;
    RETURN made.id;
END $$;
REVOKE ALL ON FUNCTION audit_rewrap(jsonb, bytea, text, bytea, bytea) FROM PUBLIC;
"""
UNDO = """
DROP FUNCTION audit_rewrap(jsonb, bytea, text, bytea, bytea);
DROP FUNCTION audit_refuse_unless_recorded();
"""
MAY_BE_WRAPPED_ANEW = """BEGIN
    IF TG_OP = 'UPDATE' AND OLD.wrapped IS NOT NULL AND NEW.wrapped IS NOT NULL
       AND (NEW.tenant_id, NEW.made_at) = (OLD.tenant_id, OLD.made_at)
       AND EXISTS (
            SELECT FROM audit_action r
            WHERE r.xact = pg_current_xact_id() AND r.tenant_id = OLD.tenant_id
              AND r.action_type = 'ledger.rewrap' AND r.status = 'succeeded'
    ) THEN
        RETURN NEW;
    END IF;
"""
# Whoever sets a hold has this lock too (audit.keeping.erasure.hold).
HOLDS_STAY_AS_THEY_ARE = """
        PERFORM pg_advisory_xact_lock(hashtextextended('audit_hold ' || OLD.tenant_id, 0));"""
HOLDS = """
        IF EXISTS (
            SELECT FROM audit_action h"""


def before() -> tuple[str, str]:
    """The columns that are inserted, and the guard of data keys as the migration 0009 made it."""
    end = import_module("audit.migrations.0009_end")
    guard = end.END[end.END.index("CREATE FUNCTION audit_refuse_unless_ended") :]
    return end.columns(), guard[: guard.index("END $$;") + len("END $$;\n")]


def guarded_by(function: str) -> str:
    trigger: str = import_module("audit.migrations.0009_end").guard_of_keys(function)
    return trigger


def guard_now() -> str:
    """The guard so far, with the further way at its beginning, and with the lock."""
    return (
        before()[1]
        .replace("audit_refuse_unless_ended", "audit_refuse_unless_recorded")
        .replace("BEGIN\n", MAY_BE_WRAPPED_ANEW, 1)
        .replace(HOLDS, HOLDS_STAY_AS_THEY_ARE + HOLDS, 1)
    )


class Migration(migrations.Migration):
    dependencies = [("audit", "0015_rights")]

    operations = [
        migrations.RunSQL(
            REWRAP.replace("COLUMNS", before()[0])
            + guard_now()
            + guarded_by("audit_refuse_unless_recorded")
            + "DROP FUNCTION audit_refuse_unless_ended();",
            before()[1] + guarded_by("audit_refuse_unless_ended") + UNDO,
        )
    ]

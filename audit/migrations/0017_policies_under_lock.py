"""Policies are encrypted from here on, under their organisation's data key, and go with its end;
those of before stay in the clear until then. And a hold that is set while contents are erased
comes either before or after that."""

from importlib import import_module

from django.db import migrations

POLICIES = """
ALTER TABLE audit_policy ADD COLUMN box bytea;
ALTER TABLE audit_policy ALTER box SET STORAGE EXTERNAL;
ALTER TABLE audit_policy ALTER body DROP NOT NULL;
ALTER TABLE audit_policy ADD CONSTRAINT audit_policy_one_form CHECK (num_nulls(body, box) = 1);

-- No hold is in force then: the guard of the data key has looked.
CREATE FUNCTION audit_refuse_until_the_end() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' AND EXISTS (
        SELECT FROM audit_action r JOIN audit_data_key k ON k.tenant_id = r.tenant_id
        WHERE r.xact = pg_current_xact_id() AND r.tenant_id = OLD.tenant_id
          AND r.action_type = 'ledger.end' AND r.status = 'succeeded' AND k.wrapped IS NULL
    ) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'The ledger only inserts: % on % is refused.', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;
"""
UNDO = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM audit_policy WHERE box IS NOT NULL) THEN
        RAISE EXCEPTION 'The ledger holds encrypted policies. They are not dropped.';
    END IF;
END $$;
DROP FUNCTION audit_refuse_until_the_end();
ALTER TABLE audit_policy DROP CONSTRAINT audit_policy_one_form;
ALTER TABLE audit_policy ALTER body SET NOT NULL;
ALTER TABLE audit_policy DROP COLUMN box;
"""
KEY_GOES = "    RETURN made.id;\n"
POLICIES_GO_TOO = "    DELETE FROM audit_policy WHERE tenant_id = made.tenant_id;\n" + KEY_GOES
ERASES = "    DELETE FROM audit_artifact a USING audit_action r\n"
# Whoever sets a hold has this lock too (audit.keeping.erasure.hold).
HOLDS_STAY_AS_THEY_ARE = (
    "    PERFORM pg_advisory_xact_lock(hashtextextended('audit_hold ' || made.tenant_id, 0));\n"
)


def before(migration: str, sql: str, name: str) -> str:
    """A function as an earlier migration made it."""
    text: str = getattr(import_module(f"audit.migrations.{migration}"), sql)
    function = text[text.index(f"CREATE FUNCTION {name}(") :]
    function = function[: function.index("END $$;") + len("END $$;\n")]
    columns: str = import_module("audit.migrations.0009_end").columns()
    return function.replace("CREATE", "CREATE OR REPLACE", 1).replace("COLUMNS", columns)


def end() -> str:
    return before("0009_end", "END", "audit_end")


def redact() -> str:
    return before("0005_erasure", "ERASURE", "audit_redact")


def guarded_by(function: str) -> str:
    return f"""
DROP TRIGGER audit_policy_keep ON audit_policy;
CREATE TRIGGER audit_policy_keep BEFORE UPDATE OR DELETE ON audit_policy
    FOR EACH ROW EXECUTE FUNCTION {function}();
ALTER TABLE audit_policy ENABLE ALWAYS TRIGGER audit_policy_keep;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0016_rewrap")]

    operations = [
        migrations.RunSQL(
            POLICIES
            + guarded_by("audit_refuse_until_the_end")
            + end().replace(KEY_GOES, POLICIES_GO_TOO)
            + redact().replace(ERASES, HOLDS_STAY_AS_THEY_ARE + ERASES),
            guarded_by("audit_refuse") + end() + redact() + UNDO,
        )
    ]

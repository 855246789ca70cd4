"""The data keys under which each organisation's payloads and policies are encrypted, and the
policies that decided, under the digests that rows name."""

from django.db import migrations, models

from audit.migrations._guard import guarded, unless_there_are

TABLES = """
CREATE TABLE audit_data_key (
    tenant_id uuid PRIMARY KEY,
    -- AES key wrap of 32 bytes; none: destroyed.
    wrapped bytea CHECK (octet_length(wrapped) = 40),
    made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- In the clear (`body`) or encrypted (`box`).
CREATE TABLE audit_policy (
    tenant_id uuid NOT NULL,
    digest text NOT NULL,
    body text,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    box bytea STORAGE EXTERNAL,
    CONSTRAINT audit_policy_check CHECK (
        digest = encode(sha256(convert_to(body, 'UTF8')), 'hex')),
    CONSTRAINT audit_policy_one_form CHECK (num_nulls(body, box) = 1),
    PRIMARY KEY (tenant_id, digest)
);
"""

REFUSALS = """
-- A data key may be wrapped anew, for a new vault key, or be destroyed at its organisation's end:
-- each in the transaction that records it. Whoever sets a hold has the lock too that is taken here
-- (audit.keeping.erasure.hold).
CREATE FUNCTION audit_refuse_unless_recorded() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.wrapped IS NOT NULL AND NEW.wrapped IS NOT NULL
       AND (NEW.tenant_id, NEW.made_at) = (OLD.tenant_id, OLD.made_at)
       AND EXISTS (
            SELECT FROM audit_action r
            WHERE r.xact = pg_current_xact_id() AND r.tenant_id = OLD.tenant_id
              AND r.action_type = 'ledger.rewrap' AND r.status = 'succeeded'
    ) THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.wrapped IS NOT NULL AND NEW.wrapped IS NULL
       AND (NEW.tenant_id, NEW.made_at) = (OLD.tenant_id, OLD.made_at) THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('audit_hold ' || OLD.tenant_id, 0));
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

-- Policies go with the end of their organisation. No hold is in force then: the guard of the data
-- key has looked.
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

GUARDS = guarded("audit_data_key", function="audit_refuse_unless_recorded") + guarded(
    "audit_policy", function="audit_refuse_until_the_end"
)

UNDO = (
    unless_there_are("audit_policy", "policies")
    + unless_there_are("audit_data_key", "rows with encrypted payloads")
    + """
DROP TABLE audit_policy, audit_data_key;
DROP FUNCTION audit_refuse_until_the_end();
DROP FUNCTION audit_refuse_unless_recorded();
"""
)


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_seals_and_stamps")]

    operations = [
        migrations.RunSQL(TABLES + REFUSALS + GUARDS, UNDO),
        # Unmanaged, as in 0001: the columns are those of the SQL above.
        migrations.CreateModel(
            name="LedgerPolicy",
            fields=[("digest", models.TextField(primary_key=True))],
            options={
                "managed": False,
                "db_table": "audit_policy",
                "verbose_name": "policy version",
                "ordering": ["-recorded_at"],
            },
        ),
    ]

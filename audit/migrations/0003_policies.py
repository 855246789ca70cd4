"""The policies that decided, under the digests that rows name. Guarded like the rows."""

from django.db import migrations, models

TABLE = """
CREATE TABLE audit_policy (
    tenant_id uuid NOT NULL,
    digest text NOT NULL CHECK (digest = encode(sha256(convert_to(body, 'UTF8')), 'hex')),
    body text NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, digest)
);
CREATE TRIGGER audit_policy_keep BEFORE UPDATE OR DELETE ON audit_policy
    FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_policy_keep_all BEFORE TRUNCATE ON audit_policy
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
ALTER TABLE audit_policy ENABLE ALWAYS TRIGGER audit_policy_keep;
ALTER TABLE audit_policy ENABLE ALWAYS TRIGGER audit_policy_keep_all;
"""

# As in 0001: only while there is nothing to lose.
UNDO = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM audit_policy) THEN
        RAISE EXCEPTION 'The ledger holds policies. They are not dropped.';
    END IF;
END $$;
DROP TABLE audit_policy;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_seals")]

    operations = [
        migrations.RunSQL(TABLE, UNDO),
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

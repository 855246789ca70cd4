"""The keys that sign the ledger, in the order in which they were named. Guarded like the rows."""

from django.db import migrations, models

# The first key has no statement; a ledger that was sealed before has that of its newest seal.
TABLE = """
CREATE TABLE audit_signing_key (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    public bytea NOT NULL CHECK (length(public) = 32),
    statement text NOT NULL,
    named_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO audit_signing_key (public, statement)
SELECT substring(decode(regexp_replace(verifier_key, '^[^+]*[+][^+]*[+]', ''), 'base64') FROM 2), ''
FROM audit_checkpoint ORDER BY id DESC LIMIT 1;
CREATE TRIGGER audit_signing_key_keep BEFORE UPDATE OR DELETE ON audit_signing_key
    FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_signing_key_keep_all BEFORE TRUNCATE ON audit_signing_key
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
ALTER TABLE audit_signing_key ENABLE ALWAYS TRIGGER audit_signing_key_keep;
ALTER TABLE audit_signing_key ENABLE ALWAYS TRIGGER audit_signing_key_keep_all;
"""

# Only while there is nothing to lose: a rotation cannot be made again without the old key.
UNDO = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM audit_signing_key WHERE statement <> '') THEN
        RAISE EXCEPTION 'The ledger holds rotations of its key. They are not dropped.';
    END IF;
END $$;
DROP TABLE audit_signing_key;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0007_about_the_ledger")]

    operations = [
        migrations.RunSQL(TABLE, UNDO),
        # Unmanaged, as in 0001: the columns are those of the SQL above.
        migrations.CreateModel(
            name="SigningKey",
            fields=[("number", models.BigAutoField(primary_key=True))],
            options={"managed": False, "db_table": "audit_signing_key"},
        ),
    ]

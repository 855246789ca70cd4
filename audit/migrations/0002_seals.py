"""What seals the ledger: a leaf for each row, a signed checkpoint for each second in which a
tenant had rows. Guarded like the rows themselves."""

from django.db import migrations, models

TABLES = """
-- The sealer reads rows in the order of their transactions (audit.seals.seals says why).
CREATE INDEX audit_action_order ON audit_action (xact, id);

CREATE TABLE audit_leaf (
    row_id bigint PRIMARY KEY,
    tenant_id uuid NOT NULL,
    leaf_index bigint NOT NULL CHECK (leaf_index >= 0),
    xact xid8 NOT NULL,
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    -- Two sealers cannot both give out a place.
    UNIQUE (tenant_id, leaf_index)
);
CREATE INDEX audit_leaf_order ON audit_leaf (xact, row_id);

CREATE TABLE audit_checkpoint (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id uuid NOT NULL,
    size bigint NOT NULL CHECK (size > 0),
    root bytea NOT NULL CHECK (octet_length(root) = 32),
    frontier bytea[] NOT NULL,
    note text NOT NULL,
    verifier_key text NOT NULL,
    signed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (tenant_id, size)
);
CREATE INDEX audit_checkpoint_time ON audit_checkpoint (tenant_id, signed_at);
"""

GUARD = "".join(
    f"""
CREATE TRIGGER {table}_keep BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER {table}_keep_all BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_keep;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_keep_all;
"""
    for table in ("audit_leaf", "audit_checkpoint")
)

# As in 0001: only while there is nothing to lose.
UNDO = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM audit_action) THEN
        RAISE EXCEPTION 'The ledger holds rows. Its seals are not dropped.';
    END IF;
END $$;
DROP TABLE audit_checkpoint, audit_leaf;
DROP INDEX audit_action_order;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_ledger")]

    operations = [
        migrations.RunSQL(TABLES + GUARD, UNDO),
        # Unmanaged, as in 0001: the columns are those of the SQL above.
        *(
            migrations.CreateModel(
                name=name,
                fields=[("id", models.BigAutoField(primary_key=True))],
                options={"managed": False, "db_table": table},
            )
            for name, table in (("Leaf", "audit_leaf"), ("Checkpoint", "audit_checkpoint"))
        ),
    ]

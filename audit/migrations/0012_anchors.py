"""Hourly roots over all organisations' checkpoints, and the time stamps that others gave them.
Guarded like the rows."""

from django.db import migrations, models

GUARD = """
CREATE TRIGGER {0}_keep BEFORE UPDATE OR DELETE ON {0}
    FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER {0}_keep_all BEFORE TRUNCATE ON {0}
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
ALTER TABLE {0} ENABLE ALWAYS TRIGGER {0}_keep;
ALTER TABLE {0} ENABLE ALWAYS TRIGGER {0}_keep_all;
"""
TABLES = (
    """
CREATE TABLE audit_anchor (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The newest checkpoint of all; each organisation's is its newest one up to there.
    checkpoint_id bigint NOT NULL,
    leaves bytea NOT NULL CHECK (length(leaves) > 0 AND length(leaves) % 32 = 0),
    root bytea NOT NULL CHECK (length(root) = 32),
    made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX audit_anchor_checkpoint ON audit_anchor (checkpoint_id);
CREATE TABLE audit_anchor_token (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    anchor_id bigint NOT NULL REFERENCES audit_anchor (id),
    authority text NOT NULL,
    response bytea NOT NULL,
    stamped_at timestamptz NOT NULL,
    kept_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (anchor_id, authority)
);
CREATE INDEX audit_anchor_token_latest ON audit_anchor_token (authority, id);
"""
    + GUARD.format("audit_anchor")
    + GUARD.format("audit_anchor_token")
)

# As in 0001: only while there is nothing to lose.
UNDO = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM audit_anchor_token) THEN
        RAISE EXCEPTION 'The ledger holds time stamps. They are not dropped.';
    END IF;
END $$;
DROP TABLE audit_anchor_token;
DROP TABLE audit_anchor;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0011_ways_to_find")]

    operations = [
        migrations.RunSQL(TABLES, UNDO),
        # Unmanaged, as in 0001: the columns are those of the SQL above.
        migrations.CreateModel(
            name="Anchor",
            fields=[("id", models.BigAutoField(primary_key=True))],
            options={"managed": False, "db_table": "audit_anchor"},
        ),
        migrations.CreateModel(
            name="AnchorToken",
            fields=[("id", models.BigAutoField(primary_key=True))],
            options={"managed": False, "db_table": "audit_anchor_token"},
        ),
    ]

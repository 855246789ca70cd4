"""What seals the ledger: a leaf for each row, a signed checkpoint for each second in which a
tenant had rows, the keys that sign them, and hourly roots over all organisations' checkpoints
with the time stamps that others gave them. Guarded like the rows themselves."""

from django.db import migrations, models

from audit.migrations._guard import guarded, unless_there_are

TABLES = """
-- Not in months: leaves stay when the rows of a month have gone.
CREATE TABLE audit_leaf (
    row_id bigint PRIMARY KEY,
    action_id uuid NOT NULL,
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
-- Finds an organisation's checkpoint at the time of an anchor.
CREATE INDEX audit_checkpoint_at ON audit_checkpoint (tenant_id, id);

-- In the order in which they were named. The first key has no statement.
CREATE TABLE audit_signing_key (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    public bytea NOT NULL CHECK (length(public) = 32),
    statement text NOT NULL,
    named_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

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
NAMES = {
    "audit_leaf": "Leaf",
    "audit_checkpoint": "Checkpoint",
    "audit_signing_key": "SigningKey",
    "audit_anchor": "Anchor",
    "audit_anchor_token": "AnchorToken",
}
GUARDS = "".join(guarded(table) for table in NAMES)

# A rotation cannot be made again without the old key.
UNDO = (
    unless_there_are("audit_action", "sealed rows")
    + unless_there_are("audit_signing_key WHERE statement <> ''", "rotations of its key")
    + unless_there_are("audit_anchor_token", "time stamps")
    + """
DROP TABLE audit_anchor_token;
DROP TABLE audit_anchor, audit_signing_key, audit_checkpoint, audit_leaf;
"""
)


def key(table: str) -> str:
    return {"audit_leaf": "row_id", "audit_signing_key": "number"}.get(table, "id")


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_rows_in_months")]

    operations = [
        migrations.RunSQL(TABLES + GUARDS, UNDO),
        # Unmanaged, as in 0001: the columns are those of the SQL above.
        *(
            migrations.CreateModel(
                name=name,
                fields=[(key(table), models.BigAutoField(primary_key=True))],
                options={"managed": False, "db_table": table},
            )
            for table, name in NAMES.items()
        ),
    ]

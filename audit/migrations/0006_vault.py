"""Payloads are encrypted from here on, each organisation's under a data key of its own.

A payload is either in the clear (`salt` and `body`: those of before, and the kinds that the
database itself reads or keeps, audit.ledger.vault) or in a `box`. Those of before stay as they are:
the ledger changes nothing that it holds."""

from django.db import migrations

VAULT = """
CREATE TABLE audit_data_key (
    tenant_id uuid PRIMARY KEY,
    -- AES key wrap of 32 bytes; none: destroyed.
    wrapped bytea CHECK (octet_length(wrapped) = 40),
    made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TRIGGER audit_data_key_keep BEFORE UPDATE OR DELETE ON audit_data_key
    FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_data_key_keep_all BEFORE TRUNCATE ON audit_data_key
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
ALTER TABLE audit_data_key ENABLE ALWAYS TRIGGER audit_data_key_keep;
ALTER TABLE audit_data_key ENABLE ALWAYS TRIGGER audit_data_key_keep_all;

ALTER TABLE audit_payload ADD COLUMN box bytea;
-- What is encrypted doesn't get smaller: compressing it would cost time for nothing.
ALTER TABLE audit_payload ALTER box SET STORAGE EXTERNAL;
ALTER TABLE audit_payload ALTER salt DROP NOT NULL, ALTER body DROP NOT NULL;
ALTER TABLE audit_payload ADD CONSTRAINT audit_payload_one_form CHECK (
    num_nulls(salt, body) = CASE WHEN box IS NULL THEN 0 ELSE 2 END);
"""

UNDO = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM audit_data_key) THEN
        RAISE EXCEPTION 'The ledger holds rows with encrypted payloads. They are not dropped.';
    END IF;
END $$;
ALTER TABLE audit_payload DROP CONSTRAINT audit_payload_one_form;
ALTER TABLE audit_payload ALTER salt SET NOT NULL, ALTER body SET NOT NULL;
ALTER TABLE audit_payload DROP COLUMN box;
DROP TABLE audit_data_key;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_erasure")]

    operations = [migrations.RunSQL(VAULT, UNDO)]

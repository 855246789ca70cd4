"""Rows about the ledger itself (exports, verifications, reconciliations, incidents) are few among
many: an index of their own finds the last ones at once and costs other rows nothing."""

from django.db import migrations

INDEX = """
CREATE INDEX audit_action_about ON audit_action (tenant_id, action_type, action_id, id)
    WHERE action_type LIKE 'ledger.%';
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0006_vault")]

    operations = [migrations.RunSQL(INDEX, "DROP INDEX audit_action_about;")]

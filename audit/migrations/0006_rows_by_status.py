"""Actions that did not simply succeed are found by their status: they are few among many, and a
list of those that were refused read the whole ledger where there are none.

A row that is pending or succeeded, as most are, costs nothing more. The months get the index one
after another while appending goes on; the last statement only joins them, and makes it for a month
that came meanwhile. Months to come get it as they get every other one."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

INDEX = "audit_action_status"
OF = "(status, action_id, id, tenant_id) WHERE status NOT IN ('pending', 'succeeded')"
MONTHS = """
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'audit_action'::regclass ORDER BY 1
"""


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(MONTHS)
        for (month,) in cursor.fetchall():
            name = f"{month}_status_action_id_id_tenant_id_idx"
            # One that was broken off is there, and is used for nothing.
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            cursor.execute(f"CREATE INDEX CONCURRENTLY {name} ON {month} {OF}")
        cursor.execute(f"CREATE INDEX {INDEX} ON audit_action {OF}")


class Migration(migrations.Migration):
    atomic = False
    harmless_because = "It adds an index, and nobody waits while that is built."

    dependencies = [("audit", "0005_filters_and_verification")]

    operations = [
        migrations.RunPython(
            create, lambda apps, schema_editor: schema_editor.execute(f"DROP INDEX {INDEX}")
        )
    ]

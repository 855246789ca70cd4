"""Actions with a row whose two times do not agree are found by that: they are few among many, and
a list of them read the whole ledger where there are none.

A row whose times agree, as nearly all do, costs nothing more. Times are subtracted from each other:
to add an interval to one is not the same in every time zone, and PostgreSQL takes no such condition
into an index. The months get the index one after another while appending goes on; the last
statement only joins them, and makes it for a month that came meanwhile. Months to come get it as
they get every other one."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

INDEX = "audit_action_clocks_apart"
OF = (
    "(action_id, tenant_id) WHERE recorded_at - occurred_at > '2 seconds'::interval"
    " OR recorded_at - occurred_at < '-2 seconds'::interval"
)
MONTHS = """
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'audit_action'::regclass ORDER BY 1
"""


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(MONTHS)
        for (month,) in cursor.fetchall():
            name = f"{month}_action_id_tenant_id_idx"
            # One that was broken off is there, and is used for nothing.
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            cursor.execute(f"CREATE INDEX CONCURRENTLY {name} ON {month} {OF}")
        cursor.execute(f"CREATE INDEX {INDEX} ON audit_action {OF}")


class Migration(migrations.Migration):
    atomic = False
    harmless_because = "It adds an index, and nobody waits while that is built."

    dependencies = [("audit", "0007_rows_of_people_and_types")]

    operations = [
        migrations.RunPython(
            create, lambda apps, schema_editor: schema_editor.execute(f"DROP INDEX {INDEX}")
        )
    ]

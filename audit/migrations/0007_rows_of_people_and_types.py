"""Actions done for one person, or of one type, are found by that: the list of who is or did little
among many read the whole ledger of an organisation.

The months get the indexes one after another while appending goes on; the last statement of each only
joins them, and makes it for a month that came meanwhile. Months to come get them as they get every
other one."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# By the name of the index: how it ends in a month, and its columns. A month has a partial index of
# the columns of the second already, so PostgreSQL itself names another one so.
INDEXES = {
    "audit_action_on_behalf_of": (
        "tenant_id_on_behalf_of_action_id_id_idx",
        "(tenant_id, on_behalf_of, action_id, id)",
    ),
    "audit_action_type": (
        "tenant_id_action_type_action_id_id_idx1",
        "(tenant_id, action_type, action_id, id)",
    ),
}
MONTHS = """
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'audit_action'::regclass ORDER BY 1
"""


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        for index, (ending, columns) in INDEXES.items():
            cursor.execute(MONTHS)
            for (month,) in cursor.fetchall():
                # One that was broken off is there, and is used for nothing.
                cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {month}_{ending}")
                cursor.execute(f"CREATE INDEX CONCURRENTLY {month}_{ending} ON {month} {columns}")
            cursor.execute(f"CREATE INDEX {index} ON audit_action {columns}")


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for index in INDEXES:
        schema_editor.execute(f"DROP INDEX {index}")


class Migration(migrations.Migration):
    atomic = False
    harmless_because = "It adds indexes, and nobody waits while they are built."

    dependencies = [("audit", "0006_rows_by_status")]

    operations = [migrations.RunPython(create, remove)]

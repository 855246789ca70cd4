"""Vectors are stored outside of the graph, and only those of large accounts go into it.

An installation without a large account needs no graph: its vectors are outside from now on. One with
a large account has the graph that all are in. To take the others out one by one would put each
into that graph anew. So all of them are in the new one: the column is added as true, which writes no
row, and then its default is set. Of small accounts every vector is compared, in the graph or not.
"""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

MANY = 200_000  # as searches compare at most, when this was written
LARGE = """
INSERT INTO knowledge_largeaccount (account_id)
SELECT account_id FROM knowledge_chunkvector
GROUP BY account_id, model HAVING count(*) > %s
ON CONFLICT DO NOTHING
"""
SCHEDULE = "graph of large accounts"


def add(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(LARGE, [MANY])
        in_graph = "true" if cursor.rowcount else "false"
        cursor.execute(
            "ALTER TABLE knowledge_chunkvector"
            f" ADD COLUMN in_graph boolean NOT NULL DEFAULT {in_graph}"
        )
        cursor.execute("ALTER TABLE knowledge_chunkvector ALTER COLUMN in_graph SET DEFAULT false")


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    schema_editor.execute("ALTER TABLE knowledge_chunkvector DROP COLUMN in_graph")


def schedule(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    values = {"func": "knowledge.tasks.mark_large_accounts", "schedule_type": "H", "repeats": -1}
    apps.get_model("django_q", "Schedule").objects.get_or_create(name=SCHEDULE, defaults=values)


def unschedule(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name=SCHEDULE).delete()


class Migration(migrations.Migration):
    harmless_because = (
        "It adds a column that the version before need not name, and that version takes a schedule"
        " of a task that it does not know as failed."
    )

    dependencies = [
        ("knowledge", "0004_labels_changed"),
        ("django_q", "0018_task_success_index"),
    ]

    operations = [
        migrations.CreateModel(
            name="LargeAccount",
            fields=[
                ("account", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="+", serialize=False, to="integrations.account")),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(add, remove)],
            state_operations=[
                migrations.AddField("chunkvector", "in_graph", models.BooleanField(db_default=False, default=False)),
            ],
        ),
        migrations.RunPython(schedule, unschedule),
    ]

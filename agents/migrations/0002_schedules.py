"""What runs by the clock: turns and mail left behind, learning, and the comparison of the ledger
with the providers."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

SCHEDULES = {
    "sweep": {"func": "agents.tasks.sweep", "schedule_type": "I", "minutes": 1},
    "learn": {"func": "agents.tasks.learn", "schedule_type": "D"},
    "directories": {"func": "agents.tasks.sync_directories", "schedule_type": "D"},
    "reconcile": {"func": "agents.tasks.reconcile", "schedule_type": "D"},
}


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    schedule = apps.get_model("django_q", "Schedule")
    for name, values in SCHEDULES.items():
        schedule.objects.get_or_create(name=name, defaults=values | {"repeats": -1})


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name__in=SCHEDULES).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0001_conversations_turns_plans"),
        ("django_q", "0018_task_success_index"),
    ]

    operations = [migrations.RunPython(create, remove)]

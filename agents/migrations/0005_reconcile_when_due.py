from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

NAME = "reconcile"


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    schedule = apps.get_model("django_q", "Schedule")
    schedule.objects.get_or_create(
        name=NAME,
        defaults={"func": "agents.tasks.reconcile", "schedule_type": "D", "repeats": -1},
    )


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0004_learn_every_day"),
        ("django_q", "0018_task_success_index"),
    ]

    operations = [migrations.RunPython(create, remove)]

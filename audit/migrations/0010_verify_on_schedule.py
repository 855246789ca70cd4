from datetime import timedelta

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.utils import timezone

NIGHTLY, MONTHLY = "verify ledger, last 35 days", "verify ledger, everything"


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    schedule = apps.get_model("django_q", "Schedule")
    night = timezone.now().replace(hour=2, minute=10, second=0, microsecond=0) + timedelta(days=1)
    schedule.objects.get_or_create(
        name=NIGHTLY,
        defaults={
            "func": "audit.tasks.verify_recent",
            "schedule_type": "D",
            "repeats": -1,
            "next_run": night,
        },
    )
    schedule.objects.get_or_create(
        name=MONTHLY,
        defaults={
            "func": "audit.tasks.verify_everything",
            "schedule_type": "M",
            "repeats": -1,
            "next_run": night + timedelta(hours=1),
        },
    )


def remove(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("django_q", "Schedule").objects.filter(name__in=(NIGHTLY, MONTHLY)).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0009_end"),
        ("django_q", "0018_task_success_index"),
    ]

    operations = [migrations.RunPython(create, remove)]

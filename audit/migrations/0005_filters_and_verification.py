"""The choices of filters that people keep, and when the ledger is verified without being asked."""

import uuid
from datetime import timedelta

from django.apps.registry import Apps
from django.db import migrations, models
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
    dependencies = [("audit", "0004_keeping"), ("django_q", "0018_task_success_index")]

    operations = [
        migrations.RunPython(create, remove),
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("owner", models.TextField(help_text="The key of the person who keeps it.")),
                ("tenant_id", models.UUIDField(null=True)),
                ("name", models.CharField(max_length=60)),
                ("query", models.TextField()),
                ("is_shared", models.BooleanField(default=False)),
                ("saved_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(fields=["owner", "name"], name="saved_filter_once")
                ],
            },
        ),
    ]

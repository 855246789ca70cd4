"""Ways to find an action: by what it was about (the keyed digest of a provider's id), and from
the action that it takes back or revises. And the choices of filters that people keep."""

import uuid

from django.db import migrations, models

INDEXES = """
CREATE INDEX audit_action_resource ON audit_action (resource_key, action_id)
    WHERE resource_key <> '';
CREATE INDEX audit_action_parent ON audit_action (parent_action_id, action_id)
    WHERE parent_action_id IS NOT NULL;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0010_verify_on_schedule")]

    operations = [
        migrations.RunSQL(
            INDEXES, "DROP INDEX audit_action_resource; DROP INDEX audit_action_parent;"
        ),
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

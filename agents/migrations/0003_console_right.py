"""A right of its own to use the console."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("agents", "0002_schedules")]

    operations = [
        migrations.AlterModelOptions(
            name="conversation",
            options={
                "ordering": ["-updated_at"],
                "permissions": [
                    ("use_console", "Can chat as any user of an organisation in the console")
                ],
            },
        ),
    ]

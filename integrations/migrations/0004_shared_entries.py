"""A table for Django's default cache, which all processes share."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("integrations", "0003_issue_trackers")]

    operations = [
        migrations.CreateModel(
            name="SharedEntry",
            fields=[
                ("cache_key", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires", models.DateTimeField(db_index=True)),
            ],
        )
    ]

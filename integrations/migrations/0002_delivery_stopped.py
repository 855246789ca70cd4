from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # the table may be large, and is written to meanwhile

    dependencies = [
        ("integrations", "0001_accounts_budgets_servers"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("reason", "stopped")),
                fields=["finished_at"],
                name="delivery_stopped",
            ),
        ),
    ]

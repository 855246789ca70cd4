"""Lists of accounts, and of people to choose from, are read from an index: they begin with the
first page of many."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("integrations", "0021_name_resources")]

    operations = [
        AddIndexConcurrently(
            model_name="account",
            index=models.Index(fields=["external_user_id", "source"], name="account_in_order"),
        ),
    ]

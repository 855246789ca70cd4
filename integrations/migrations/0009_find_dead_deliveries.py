from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Dead letters are few among many deliveries."""

    atomic = False  # an index of a big table is made beside what goes on

    dependencies = [("integrations", "0008_paused_colleagues")]

    operations = [
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                fields=["-received_at"],
                name="delivery_dead",
                condition=models.Q(state="dead"),
            ),
        ),
    ]

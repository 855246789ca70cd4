from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("knowledge", "0003_labels_before")]

    operations = [
        AddIndexConcurrently(
            model_name="item",
            index=models.Index(
                condition=models.Q(labels_before__isnull=False),
                fields=["account"],
                name="item_labels_changed",
            ),
        ),
    ]

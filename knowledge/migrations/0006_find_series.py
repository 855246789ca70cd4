from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('knowledge', '0005_occurrences'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='item',
            index=models.Index(condition=models.Q(('occurrences_until__isnull', False)), fields=['occurrences_until'], name='item_series'),
        ),
    ]

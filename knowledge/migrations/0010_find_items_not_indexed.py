from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('knowledge', '0009_languages'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='item',
            index=models.Index(condition=models.Q(('languages', None)), fields=['id'], name='item_not_indexed'),
        ),
    ]

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('agents', '0012_tool_call_cost'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='message',
            index=models.Index(fields=['-created_at'], name='message_newest'),
        ),
    ]

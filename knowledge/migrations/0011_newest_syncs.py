from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('integrations', '0007_mcp_scope'),
        ('knowledge', '0010_find_items_not_indexed'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='syncfailure',
            index=models.Index(fields=['-failed_at'], name='sync_failure_all_newest'),
        ),
        AddIndexConcurrently(
            model_name='syncrun',
            index=models.Index(fields=['-created_at'], name='sync_run_newest'),
        ),
        AddIndexConcurrently(
            model_name='syncsource',
            index=models.Index(fields=['-created_at'], name='sync_source_newest'),
        ),
    ]

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    harmless_because = "Choices are checked in Python; the column is as it was."

    dependencies = [
        ('integrations', '0013_credential_refreshing'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name='servicetoken',
                    name='scopes',
                    field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('chat', 'Chat and conversations, deciding nothing'), ('sync', 'Syncs'), ('accounts', 'Connect and disconnect mailboxes of its users'), ('approvals', 'Decide what waits, in a chat too'), ('past-mail', 'Run over past mail of its users, tried or for real'), ('audit:read', 'Read and export the ledger'), ('policy', 'Read policies, patterns and skills'), ('learning', 'Approve and stop patterns and skills'), ('webhooks', 'See what became of webhooks'), ('mcp', 'Search and act over MCP, as another agent')], max_length=32), default=list, size=None),
                ),
            ],
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('guardrails', '0002_approval_announced'),
        ('integrations', '0001_accounts_budgets_servers'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='killswitch',
            name='switch_thrown_once',
        ),
        migrations.AddField(
            model_name='killswitch',
            name='effect',
            field=models.CharField(blank=True, choices=[('egress', 'Reaches other people'), ('destructive', 'Cannot be undone'), ('concealing', 'Hides something')], default='', max_length=16),
        ),
        migrations.AddConstraint(
            model_name='killswitch',
            constraint=models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('organisation', 'account', 'action_type', 'source', 'effect'), name='switch_thrown_once', nulls_distinct=False),
        ),
    ]

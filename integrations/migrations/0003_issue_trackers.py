"""What Remit has to remember about issue trackers of people's own."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0002_delivery_stopped'),
    ]

    operations = [
        migrations.CreateModel(
            name='IssueMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seen_to', models.DateTimeField()),
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='issue_mark', to='integrations.account')),
            ],
        ),
        migrations.CreateModel(
            name='IssueWrite',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('operation', models.CharField(max_length=40)),
                ('project', models.CharField(max_length=255)),
                ('issue_key', models.CharField(blank=True, help_text='Empty: a new one.', max_length=255)),
                ('revision_before', models.CharField(blank=True, max_length=200)),
                ('wanted', models.JSONField(default=dict, help_text='A digest of what each changed field is to be.')),
                ('answer', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('started', 'Started: nothing has been sent'), ('sent', 'Sent: the tracker may have done it'), ('done', 'Done'), ('given_up', 'Given up: nothing is sent under this key any more')], default='started', max_length=16)),
                ('begun_at', models.DateTimeField(auto_now_add=True)),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='issue_writes', to='integrations.account')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'key'), name='issue_write_once')],
            },
        ),
    ]

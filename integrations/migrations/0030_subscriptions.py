"""Where providers were asked to call Remit when something changes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0029_copy_to_oneself'),
    ]

    operations = [
        migrations.CreateModel(
            name='Subscription',
            fields=[
                ('account', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='subscription', serialize=False, to='integrations.account')),
                ('external_id', models.CharField(blank=True, help_text='Its name at the provider. Empty: there is none.', max_length=200)),
                ('secret_digest', models.CharField(blank=True, help_text='SHA-256 of the secret that the provider sends with each call.', max_length=64)),
                ('answered_until', models.DateTimeField(help_text="Until then the provider may try whether this address is Remit's.", null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('is_challenged', models.BooleanField(default=False, help_text='The provider wants to hear of it before it expires.')),
                ('step', models.CharField(blank=True, choices=[('open', 'Open'), ('renew', 'Renew'), ('close', 'Close')], help_text='What is under way. Empty: nothing.', max_length=8)),
                ('action_id', models.UUIDField(help_text="That step's action, in the ledger.", null=True)),
                ('write_key', models.CharField(blank=True, help_text='Of the last request that was begun.', max_length=100)),
                ('written_at', models.DateTimeField(help_text='When that was begun.', null=True)),
                ('failure', models.CharField(blank=True, help_text='Why there is none.', max_length=64)),
                ('due_at', models.DateTimeField(help_text='When it is looked after next.')),
            ],
            options={
                'indexes': [models.Index(fields=['due_at'], name='subscription_due')],
            },
        ),
    ]

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0007_narrowed_accounts'),
    ]

    operations = [
        migrations.CreateModel(
            name='KeptAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('principal', models.CharField(help_text='The caller, as the ledger names it.', max_length=300)),
                ('key', models.CharField(max_length=200)),
                ('fingerprint', models.CharField(help_text='Of address and body.', max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('body', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='kept_answers', to='integrations.organisation')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('organisation', 'principal', 'key'), name='kept_answer_once')],
            },
        ),
    ]

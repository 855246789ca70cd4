"""The search column is written by Python from now on. What is in it stays, and items are found
by it, until a background task has indexed them anew."""

import django.contrib.postgres.fields
import django.contrib.postgres.search
import django.db.models.deletion
from django.db import migrations, models

GENERATED_AGAIN = """
ALTER TABLE knowledge_item DROP COLUMN search;
ALTER TABLE knowledge_item ADD COLUMN search tsvector GENERATED ALWAYS AS (
    setweight(to_tsvector('simple'::regconfig, coalesce(title, '')), 'A') ||
    setweight(to_tsvector('simple'::regconfig, coalesce(summary, '')), 'B') ||
    setweight(to_tsvector('simple'::regconfig, coalesce(left(text, 100000), '')), 'C')) STORED;
CREATE INDEX item_words ON knowledge_item USING gin (search);
"""


class Migration(migrations.Migration):
    dependencies = [
        ('integrations', '0001_accounts_deliveries_tokens'),
        ('knowledge', '0008_embedding_models'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE knowledge_item ALTER COLUMN search DROP EXPRESSION",
                    GENERATED_AGAIN,
                )
            ],
            state_operations=[
                migrations.RemoveField(model_name='item', name='search'),
                migrations.AddField(
                    model_name='item',
                    name='search',
                    field=django.contrib.postgres.search.SearchVectorField(default='', editable=False, null=True),
                ),
            ],
        ),
        migrations.AddField(
            model_name='item',
            name='languages',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), blank=True, help_text="That its words are stemmed in, by PostgreSQL's names; null: not looked at yet.", null=True, size=None),
        ),
        migrations.CreateModel(
            name='WriteCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(max_length=32)),
                ('slot', models.PositiveSmallIntegerField()),
                ('writes', models.BigIntegerField()),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='integrations.account')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'language', 'slot'), name='write_count_once')],
            },
        ),
    ]

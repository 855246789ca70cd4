import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("knowledge", "0002_own_since")]

    operations = [
        migrations.AddField(
            model_name="item",
            name="labels_before",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(),
                blank=True,
                help_text="A mail's labels before they changed, until somebody has looked at the change.",
                null=True,
                size=None,
            ),
        ),
    ]

"""Who each mail says that it is from, so that no sender's flood keeps others waiting."""

from django.db import migrations, models
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, Left


class Migration(migrations.Migration):
    dependencies = [("integrations", "0004_shared_entries")]

    operations = [
        migrations.AddField(
            model_name="delivery",
            name="sender",
            field=models.GeneratedField(
                db_persist=True,
                expression=Left(
                    Coalesce(
                        KeyTextTransform("from", KeyTextTransform("data", "body")),
                        models.Value(""),
                    ),
                    320,
                ),
                help_text="Who a mail says that it is from.",
                output_field=models.CharField(max_length=320),
            ),
        )
    ]

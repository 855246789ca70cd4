"""A file that Remit puts into a recycle bin of Microsoft's is described by its row: Graph says
nothing of what lies there."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("integrations", "0024_personal_settings")]

    operations = [
        migrations.AddField(
            model_name="filewrite",
            name="was",
            field=models.JSONField(
                help_text="The file as it was, where its provider says nothing more of it "
                "afterwards.",
                null=True,
            ),
        ),
    ]

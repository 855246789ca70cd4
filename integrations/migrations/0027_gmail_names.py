"""What Gmail calls a mail in every folder, beside where it lies."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("integrations", "0026_folder_tree")]

    operations = [
        migrations.AddField(
            model_name="mailplace",
            name="gmail_id",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="What Gmail calls the mail in every folder.",
                max_length=20,
            ),
        ),
    ]

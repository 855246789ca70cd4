"""How far a calendar at Microsoft was looked at is a link, which may be longer than a token."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("integrations", "0022_account_in_order")]

    operations = [
        migrations.AddField(
            model_name="calendarmark",
            name="link",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]

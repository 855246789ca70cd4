"""The folders of a drive at Microsoft, so that a decision asks for what has changed among them and
not for every file there is."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("integrations", "0025_file_as_it_was")]

    operations = [
        migrations.CreateModel(
            name="FolderTree",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("link", models.TextField()),
                (
                    "folders",
                    models.JSONField(default=dict, help_text="Name and the folder above, by id."),
                ),
                (
                    "account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="folder_tree",
                        to="integrations.account",
                    ),
                ),
            ],
        ),
    ]

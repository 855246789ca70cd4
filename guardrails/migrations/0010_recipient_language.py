from django.db import migrations, models

import guardrails.models.approval_recipients


class Migration(migrations.Migration):

    dependencies = [
        ("guardrails", "0009_label_corrections"),
    ]

    operations = [
        migrations.AddField(
            model_name="approvalrecipient",
            name="language",
            field=models.CharField(
                choices=guardrails.models.approval_recipients.spoken_choices,
                db_default="en",
                default="en",
                help_text="In which messages are. What people and programs wrote stays as it is.",
                max_length=8,
            ),
        ),
    ]

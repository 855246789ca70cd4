from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("agents", "0011_suggestions"),
    ]

    operations = [
        migrations.AddField(
            model_name="suggestion",
            name="reasons",
            field=models.JSONField(blank=True, help_text="Why, as values: said in the language of who reads it.", null=True),
        ),
    ]

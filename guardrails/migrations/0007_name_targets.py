from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("guardrails", "0006_two_people")]

    operations = [
        migrations.AlterModelOptions(
            name="allowedactionoption",
            options={
                "ordering": ["account", "action_type", "kind", "name"],
                "verbose_name": "target",
            },
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("agents", "0009_own_console_right"),
    ]

    operations = [
        migrations.AlterField(
            model_name="turn",
            name="ending",
            field=models.CharField(blank=True, choices=[("reply", "Reply"), ("question", "Question to the user"), ("escalated", "Handed to a person"), ("limit", "A limit was reached"), ("stopped", "Stopped by a person"), ("pattern", "A learned pattern acted"), ("suggested", "Something was suggested to a person"), ("error", "Something broke")], max_length=16),
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("agents", "0012_reasons_of_suggestions"),
    ]

    operations = [
        migrations.AlterField(
            model_name="turn",
            name="kind",
            field=models.CharField(choices=[("chat", "Chat"), ("inbound", "Inbound item"), ("again", "Inbound item, looked at again"), ("trial", "Mail that was only tried"), ("thread", "Thread put in order"), ("reminder", "Reminder")], max_length=16),
        ),
        migrations.AlterField(
            model_name="turn",
            name="ending",
            field=models.CharField(blank=True, choices=[("reply", "Reply"), ("question", "Question to the user"), ("escalated", "Handed to a person"), ("limit", "A limit was reached"), ("stopped", "Stopped by a person"), ("pattern", "A learned pattern acted"), ("suggested", "Something was suggested to a person"), ("tidied", "Its thread was put in order"), ("error", "Something broke")], max_length=16),
        ),
    ]

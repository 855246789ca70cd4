"""An approval says for which user it was handed on, and what migrations write is validated."""

from django.db import migrations, models

from guardrails.models.base import ValidatedManager

VALIDATED = (
    *("allowedaction", "allowedactionoption", "ceilingrule", "killswitch"),
    *("learnedpattern", "patternaction", "skill", "targetgroup"),
)


class Migration(migrations.Migration):
    dependencies = [("guardrails", "0016_agent_mail")]

    operations = [
        *(
            migrations.AlterModelManagers(name=name, managers=[("objects", ValidatedManager())])
            for name in VALIDATED
        ),
        migrations.AddField(
            model_name="approval",
            name="delegated_as",
            field=models.CharField(
                blank=True, help_text="The user for whom it was handed on.", max_length=200
            ),
        ),
    ]

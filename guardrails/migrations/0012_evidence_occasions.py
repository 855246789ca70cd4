from django.db import migrations, models


def try_waiting_again(apps, schema_editor):
    """What waits for its first approval is tried on past mail again, within a minute: its evidence
    does not say yet of which days it is."""
    patterns = apps.get_model('guardrails', 'LearnedPattern').objects
    patterns.filter(approved_at=None).exclude(proposed_by='operator').update(tried_at=None)


class Migration(migrations.Migration):

    harmless_because = 'The version before tries what was not tried yet within a minute, and works on as before.'

    dependencies = [
        ('guardrails', '0011_trial_asks'),
    ]

    operations = [
        migrations.AddField(
            model_name='patternevidence',
            name='occasion',
            field=models.CharField(blank=True, db_default='', default='', help_text='In which run it was done, or by hand on which day of mail.', max_length=64),
        ),
        migrations.RunPython(try_waiting_again, migrations.RunPython.noop),
    ]

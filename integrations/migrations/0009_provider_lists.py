from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0008_kept_answers'),
    ]

    operations = [
        migrations.AddField(
            model_name='account',
            name='listed_at',
            field=models.DateTimeField(editable=False, help_text='When its labels, folders, projects and people were last read from the provider.', null=True),
        ),
        migrations.AddField(
            model_name='account',
            name='lists_due_at',
            field=models.DateTimeField(editable=False, help_text='When they are read again. Empty: at once.', null=True),
        ),
        migrations.AlterField(
            model_name='providerresource',
            name='resource_type',
            field=models.CharField(choices=[('label', 'Label'), ('folder', 'Folder'), ('project', 'Project'), ('person', 'Person'), ('calendar', 'Calendar')], max_length=32),
        ),
    ]

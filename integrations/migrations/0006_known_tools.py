"""Tools of MCP servers can be marked as known."""


from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integrations', '0005_delivery_sender'),
    ]

    operations = [
        migrations.AlterField(
            model_name='mcptool',
            name='effect',
            field=models.CharField(choices=[('acting', 'Acts: a person is always asked'), ('undoable', 'Acts, and can be taken back there: as the policy says'), ('reading', 'Only reads: as the policy says'), ('known', 'A known tool: as its reviewed description and the policy say')], default='acting', help_text='What you know that it does. What is sent to it leaves the organisation, even if the tool only reads.', max_length=10),
        ),
    ]

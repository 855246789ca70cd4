from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("integrations", "0020_known_senders")]

    operations = [
        migrations.AlterModelOptions(name="providerresource", options={"verbose_name": "resource"}),
    ]

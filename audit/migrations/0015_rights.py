"""Rights of their own for who erases, holds, lets months leave and ends an organisation."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("audit", "0014_retention")]

    operations = [
        migrations.AlterModelOptions(
            name="executedagentaction",
            options={
                "managed": False,
                "permissions": [
                    ("erase_contents", "Can erase what ledger rows are about"),
                    ("hold_contents", "Can set and release legal holds"),
                    ("drop_months", "Can propose and confirm that old months leave"),
                    ("end_ledger", "Can end an organisation's ledger"),
                ],
                "verbose_name": "ledger entry",
                "verbose_name_plural": "ledger",
            },
        )
    ]

"""Whether a user gets a blind copy of what Remit sends, so that its arrival proves the sending."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("integrations", "0028_sessions")]

    operations = [
        migrations.AddField(
            model_name="account",
            name="bcc_self",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="The user gets a blind copy of each mail that Remit sends, and it is "
                "filed among the sent mail. When the connection breaks off at the end of a mail, "
                "the copy proves that it went out, and nobody has to find out. It lies in the "
                "inbox for a moment: a phone may announce it. For mail over IMAP and SMTP.",
                verbose_name="a copy to oneself",
            ),
        ),
    ]

"""What people who log in say of themselves: language, time zone, quiet hours."""

import django.contrib.postgres.fields
import django.db.models.deletion
import integrations.models.accounts
import integrations.models.preferences
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("integrations", "0023_calendar_links"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PersonalSettings",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        blank=True,
                        max_length=35,
                        validators=[integrations.models.preferences.validate_language],
                    ),
                ),
                (
                    "time_zone",
                    models.CharField(
                        blank=True,
                        max_length=64,
                        validators=[integrations.models.accounts.validate_time_zone],
                    ),
                ),
                ("quiet_from", models.TimeField(blank=True, null=True)),
                ("quiet_until", models.TimeField(blank=True, null=True)),
                (
                    "quiet_days",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=9),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="personal_settings",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "personal settings",
                "verbose_name_plural": "personal settings",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("quiet_days", []), ("quiet_from", None), ("quiet_until", None)
                            ),
                            models.Q(
                                ("quiet_from__isnull", False),
                                ("quiet_until__isnull", False),
                                models.Q(("quiet_from", models.F("quiet_until")), _negated=True),
                                models.Q(("quiet_days", []), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="personal_settings_quiet",
                    )
                ],
            },
        ),
    ]

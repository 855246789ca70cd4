"""What people who log in say of themselves: one row each."""

from collections.abc import Collection, Mapping
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from integrations.contracts.preferences import DAYS
from integrations.contracts.quiet_hours import QuietHours
from integrations.models.accounts import validate_time_zone
from integrations.models.preferences import UserPreferences, find_zones, validate_language
from integrations.models.staff import Membership


class PersonalSettings(models.Model):
    """In which language pages are to somebody, and when they want to hear nothing. It grants
    nothing, and decides nothing but when they hear. Where they are a user of the agent themself,
    language and time zone are that user's (`UserPreferences`)."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="personal_settings"
    )
    language = models.CharField(max_length=35, blank=True, validators=[validate_language])
    time_zone = models.CharField(max_length=64, blank=True, validators=[validate_time_zone])
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_until = models.TimeField(null=True, blank=True)
    quiet_days = ArrayField(models.CharField(max_length=9), default=list, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(quiet_from=None, quiet_until=None, quiet_days=[])
                | (
                    Q(quiet_from__isnull=False, quiet_until__isnull=False)
                    & ~Q(quiet_from=models.F("quiet_until"))
                    & ~Q(quiet_days=[])
                ),
                name="personal_settings_quiet",
            )
        ]
        verbose_name = verbose_name_plural = "personal settings"

    def __str__(self) -> str:
        return str(self.user)

    def quiet_hours(self, zone: str) -> tuple[QuietHours, ...]:
        """None or one, on the clocks of this zone."""
        days = [day for day in DAYS if day in self.quiet_days]
        return QuietHours.read(self.quiet_from, self.quiet_until, zone=zone, days=days)


def find_language(organisation_id: UUID, person: int) -> str:
    """The language that somebody chose on their page “You”: that of the user of the agent that they
    are in this organisation, else their own. Empty: none. Two queries."""
    members = Membership.objects.filter(organisation_id=organisation_id, user_id=person)
    own = members.exclude(external_user_id="").values_list("external_user_id", flat=True).first()
    if own:
        chosen = UserPreferences.objects.filter(
            organisation_id=organisation_id, external_user_id=own
        )
        return chosen.values_list("language", flat=True).first() or ""
    rows = PersonalSettings.objects.filter(user_id=person)
    return rows.values_list("language", flat=True).first() or ""


def find_quiet_hours(organisation_id: UUID, people: Collection[int]) -> Mapping[int, QuietHours]:
    """Of those of these people who have any, on their own clocks: those of the user of the agent
    that they are in this organisation, else those that they named. Three queries at most, one where
    nobody has any."""
    rows = PersonalSettings.objects.filter(user_id__in=people, quiet_from__isnull=False)
    found = {row.user_id: row for row in rows}
    if not found:
        return {}
    members = Membership.objects.filter(organisation_id=organisation_id, user_id__in=found)
    own = dict(members.exclude(external_user_id="").values_list("user_id", "external_user_id"))
    zones = find_zones(organisation_id, own.values()) if own else {}
    return {
        id: hours
        for id, row in found.items()
        for hours in row.quiet_hours(zones.get(own.get(id, "")) or row.time_zone or "UTC")
    }

"""What people say of themselves on their own page: read from its form, and stored."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from audit.contracts import LEDGER_TENANT
from audit.ledger import events
from integrations.contracts.preferences import DAYS
from integrations.models import Organisation, PersonalSettings, UserPreferences
from integrations.models.preferences import load_preferences
from integrations.web import staff
from integrations.web.languages import LANGUAGES

CHANGE = "person.quiet_hours"
DIGEST = {"": None, "yes": True, "no": False}


class OwnSettings(forms.Form):
    """`language` and `time_zone` may stay what they were, whatever that is: the API takes more
    languages than Remit speaks."""

    language = forms.CharField(required=False, max_length=35)
    time_zone = forms.CharField(required=False, max_length=64)
    quiet_from = forms.TimeField(required=False)
    quiet_until = forms.TimeField(required=False)
    quiet_days = forms.MultipleChoiceField(required=False, choices=[(day, day) for day in DAYS])
    daily_digest = forms.ChoiceField(required=False, choices=[(key, key) for key in DIGEST])

    def clean_language(self) -> str:
        tag = str(self.cleaned_data["language"])
        if tag not in ("", *LANGUAGES, self.initial["language"]):
            raise ValidationError(gettext("Choose a language of the list."))
        return tag

    def clean_time_zone(self) -> str:
        zone = str(self.cleaned_data["time_zone"])
        if zone and zone not in available_timezones():
            raise ValidationError(
                gettext("There is no such time zone. Choose one of the list, as Europe/Berlin.")
            )
        return zone

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        begins, ends = said.get("quiet_from"), said.get("quiet_until")
        if self.errors:
            return said
        if (begins is None) != (ends is None):
            self.add_error("quiet_until", gettext("Say both when it begins and when it ends."))
        elif begins is not None and begins == ends:
            self.add_error("quiet_until", gettext("A whole day cannot be quiet: say when it ends."))
        elif begins is not None and not said["quiet_days"]:
            self.add_error("quiet_days", gettext("Choose the days on which they begin."))
        return said


def read_own(user: Any, organisation: Organisation | None, own: str) -> dict[str, Any]:
    """What somebody has said, as the form has it. `own` is the user of the agent that they are."""
    row = staff.settings_of(user)
    said = load_preferences(organisation.id, own) if organisation and own else row
    found = {
        "language": said.language,
        "time_zone": said.time_zone,
        "quiet_from": row.quiet_from,
        "quiet_until": row.quiet_until,
        "quiet_days": row.quiet_days or list(DAYS),
    }
    if organisation and own:
        rows = UserPreferences.objects.filter(organisation=organisation, external_user_id=own)
        wish = rows.values_list("daily_digest", flat=True).first()
        found["daily_digest"] = next(key for key, value in DIGEST.items() if value is wish)
    return found


def store_own(
    user: Any, organisation: Organisation | None, own: str, said: dict[str, Any], *, by: str
) -> None:
    """Store what the form says. Other quiet hours are a row of the ledger first: they change when
    somebody hears that something waits. Raises audit.contracts.LedgerError."""
    row = PersonalSettings.objects.filter(user=user).first() or PersonalSettings(user=user)
    before = _hours(row)
    row.quiet_from, row.quiet_until = said["quiet_from"], said["quiet_until"]
    row.quiet_days = said["quiet_days"] if row.quiet_from is not None else []
    about = {"language": said["language"], "time_zone": said["time_zone"]}
    if not own:
        row.language, row.time_zone = about["language"], about["time_zone"]
    if _hours(row) != before:
        name, quiet = user.get_username(), _hours(row)
        payload = {
            "description": f"Quiet hours of {name}: {quiet or 'none'}",
            "person": name,
            "quiet": quiet,
        }
        events.record(
            CHANGE, tenant_id=LEDGER_TENANT, actor_type="admin", actor_id=by, payload=payload
        )
    with transaction.atomic():
        row.save()
        if organisation and own:
            wish = {"daily_digest": DIGEST[said["daily_digest"]]}
            UserPreferences.objects.update_or_create(
                organisation=organisation, external_user_id=own, defaults=about | wish
            )


def _hours(row: PersonalSettings) -> str:
    """“20:00-07:00 monday tuesday”; empty where there are none."""
    if row.quiet_from is None or row.quiet_until is None:
        return ""
    days = " ".join(day for day in DAYS if day in row.quiet_days)
    return f"{row.quiet_from:%H:%M}-{row.quiet_until:%H:%M} {days}"

"""Admin of what users say of themselves."""

import re
from typing import Any, ClassVar
from zoneinfo import available_timezones

from django import forms
from django.contrib import admin
from django.contrib.postgres.forms import SimpleArrayField
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from integrations.contracts import preferences as said
from integrations.models import Account, Organisation, UserPreferences
from integrations.models.preferences import validate_address
from integrations.web import staff
from integrations.web.bound_admin import BoundAdmin

USERS_OFFERED = 500


class HoursField(forms.CharField):
    """The hours of one day, such as 09:00-17:30. Empty is a day off."""

    def __init__(self, day: said.Day) -> None:
        super().__init__(
            label=day.title(),
            required=False,
            max_length=20,
            widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "09:00-17:00"}),
        )

    def clean(self, value: Any) -> Any:
        text = super().clean(value).replace("\u2013", "-")
        if not text:
            return None
        start, _, end = (part.strip() for part in text.partition("-"))
        try:
            return said.dump_hours(said.read_hours({"monday": {"start": start, "end": end}}))[
                "monday"
            ]
        except ValueError as error:
            raise ValidationError("Write from when to when, such as 09:00-17:30.") from error


class AddressesField(SimpleArrayField):
    """Addresses, one a line or with commas."""

    def __init__(self) -> None:
        super().__init__(
            forms.CharField(max_length=320, validators=[validate_address]),
            delimiter="\n",
            max_length=said.KNOWN_SENDERS,
            required=False,
            widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
            help_text="One address a line: people who are no strangers, though the user never "
            "wrote to them. It permits nothing else.",
        )

    def to_python(self, value: Any) -> Any:
        lines = re.split(r"[,\n]", value) if isinstance(value, str) else ()
        given = "\n".join(filter(None, map(str.strip, lines))) if lines else value
        return super().to_python(given)


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    known_senders = AddressesField()
    monday = HoursField("monday")
    tuesday = HoursField("tuesday")
    wednesday = HoursField("wednesday")
    thursday = HoursField("thursday")
    friday = HoursField("friday")
    saturday = HoursField("saturday")
    sunday = HoursField("sunday")

    class Meta:
        model = UserPreferences
        fields = (
            "organisation",
            "external_user_id",
            "name",
            "language",
            "time_zone",
            "signature",
            "known_senders",
            "daily_digest",
        )
        help_texts: ClassVar = {
            "time_zone": "",
            "daily_digest": "In the morning, to their mailbox: what was done, asked and refused "
            "the day before, and what waits.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for day, hours in said.read_hours(self.instance.working_hours).items():
            self.initial[day] = str(hours)
        zones = [(zone, zone) for zone in sorted(available_timezones())]
        self.fields["time_zone"].widget = UnfoldAdminSelectWidget(
            choices=[("", "That of the account that they connected first"), *zones]
        )
        self.fields["daily_digest"].widget.choices = [
            ("unknown", "As the organisation has it"),
            ("true", "Yes"),
            ("false", "No"),
        ]

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        self.instance.working_hours = {day: found[day] for day in said.DAYS if found.get(day)}
        return found


@admin.register(UserPreferences)
class UserPreferencesAdmin(BoundAdmin):
    empty = (
        "Language, time zone, working hours and signature of a user. Without them the "
        "defaults of the installation hold."
    )
    form = PreferencesForm
    list_display = ("external_user_id", "name", "language", "time_zone", "organisation")
    list_filter = ("organisation",)
    list_per_page = 50
    list_select_related = ("organisation",)
    search_fields = ("external_user_id", "name")
    fieldsets = (
        (None, {"fields": ("organisation", "external_user_id")}),
        (
            "Person",
            {
                "fields": (
                    *("name", "language", "time_zone", "signature", "known_senders"),
                    "daily_digest",
                )
            },
        ),
        (
            "Working hours",
            {
                "fields": said.DAYS,
                "description": "On the user's clock. All empty: Monday to Friday, 08:00-18:00.",
            },
        ),
    )

    def get_readonly_fields(
        self, request: HttpRequest, obj: UserPreferences | None = None
    ) -> tuple[str, ...]:
        return ("organisation", "external_user_id") if obj else ()

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Where somebody meets one organisation, that is whose user it is about."""
        found: dict[str, Any] = super().get_changeform_initial_data(request)
        met = list(staff.bind(Organisation.objects.all(), request.user, "pk")[:2])
        return ({"organisation": met[0].pk} if len(met) == 1 else {}) | found

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **named: Any) -> Any:
        """The users who have an account are picked. Where they are too many the id is typed."""
        if db_field.name == "external_user_id":
            rows = staff.bind(Account.objects.all(), request.user, "organisation")
            names = rows.order_by("external_user_id").values_list(
                "external_user_id", "display_name"
            )
            offered = dict(names.distinct()[: USERS_OFFERED + 1])
            if len(offered) <= USERS_OFFERED:
                named["help_text"] = ""
                named["widget"] = UnfoldAdminSelectWidget(
                    choices=[
                        ("", "Choose a user"),
                        *((id, f"{name} ({id})" if name else id) for id, name in offered.items()),
                    ]
                )
        return super().formfield_for_dbfield(db_field, request, **named)

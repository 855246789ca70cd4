"""Admin of what users say of themselves."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from integrations.contracts import preferences as said
from integrations.models import UserPreferences
from integrations.web.bound_admin import BoundAdmin


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


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
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
        widgets: ClassVar = {"known_senders": UnfoldAdminTextareaWidget(attrs={"rows": 3})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for day, hours in said.read_hours(self.instance.working_hours).items():
            self.initial[day] = str(hours)

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

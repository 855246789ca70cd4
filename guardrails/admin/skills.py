"""Admin of skills. A version is never changed: what was edited becomes the next one."""

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from guardrails import skills
from guardrails.admin.base import PolicyAdmin
from guardrails.models import Skill


class SkillForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Skill
        fields = ("organisation", "account", "name", "description", "content", "enabled")

    def _post_clean(self) -> None:
        # A version is never changed: what was edited becomes the next one.
        if self.instance.pk and {"description", "content"} & set(self.changed_data):
            self.instance = skills.next_version(self.instance)
        super()._post_clean()  # type: ignore[misc]  # Django's hook for the instance


@admin.register(Skill)
class SkillAdmin(PolicyAdmin):
    form = SkillForm
    list_display = ("name", "version", "enabled", "account", "use_count", "last_used_at")
    list_filter = (("account", AutocompleteSelectFilter), "enabled")
    search_fields = ("name", "description")
    fields = (
        "organisation",
        "account",
        "name",
        "description",
        "content",
        "enabled",
        "version",
        "use_count",
        "last_used_at",
    )

    def get_readonly_fields(
        self, request: HttpRequest, obj: Skill | None = None
    ) -> tuple[str, ...]:
        counted = ("version", "use_count", "last_used_at")
        return (*counted, "organisation", "account", "name") if obj else counted

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False  # old versions are kept; switch a skill off instead

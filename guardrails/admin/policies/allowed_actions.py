"""Admin of allowed actions, and of groups of targets."""

from django.contrib import admin
from django.urls import URLPattern
from unfold.decorators import display

from guardrails.admin.base import PolicyAdmin
from guardrails.admin.policies import pages
from guardrails.admin.policies.conditions_form import WithConditions
from guardrails.admin.policies.trial import DraftAdmin
from guardrails.models import AllowedAction, TargetGroup
from integrations.web.bound_admin import AutocompleteFilter

MODE_COLOURS = {
    "Automatic": "success",
    "Ask a person": "info",
    "Draft only": "info",
    "Never": "danger",
}


class AllowedActionForm(WithConditions):
    class Meta:
        model = AllowedAction
        fields = (
            "account",
            "action_type",
            "resource_type",
            "enabled",
            "approval_mode",
            "hold_seconds",
            "conditions",
            "patterns_unapproved",
            "confirm_in_words",
        )


@admin.register(AllowedAction)
class AllowedActionAdmin(DraftAdmin):
    empty = (
        "Nothing is allowed yet, so every action is refused. Add one here, or apply a preset "
        "on the page of an account."
    )
    form = AllowedActionForm
    list_display = ("action_type", "account", "resource_type", "enabled", "mode", "only_if")
    list_filter = (
        ("account", AutocompleteFilter),
        "action_type",
        "enabled",
        "approval_mode",
    )
    search_fields = ("account__external_user_id", "account__display_name", "action_type")

    def get_urls(self) -> list[URLPattern]:
        return [*pages.urls(self.admin_site), *super().get_urls()]

    @display(description="Mode", label=MODE_COLOURS)  # type: ignore[untyped-decorator]
    def mode(self, row: AllowedAction) -> str:
        return row.get_approval_mode_display()


@admin.register(TargetGroup)
class TargetGroupAdmin(PolicyAdmin):
    empty = "A group puts targets together, such as labels of which a mail gets one alone."
    list_display = ("name", "account", "cardinality")
    list_filter = (("account", AutocompleteFilter), "cardinality")
    search_fields = ("name", "account__external_user_id")
    fields = ("account", "name", "cardinality")

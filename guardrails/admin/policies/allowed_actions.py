"""Admin of allowed actions, and of the targets that they may reach."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern
from unfold.decorators import action, display

from guardrails.admin.base import PolicyAdmin
from guardrails.admin.policies import pages
from guardrails.admin.policies.conditions_form import WithConditions
from guardrails.admin.policies.trial import DraftAdmin
from guardrails.facts.text import visible
from guardrails.models import AllowedAction, AllowedActionOption, TargetGroup
from guardrails.policies import target_names
from guardrails.policies.recorded_admin import author
from integrations.exceptions import ProviderError
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


@admin.register(AllowedActionOption)
class AllowedActionOptionAdmin(DraftAdmin):
    empty = (
        "A target is a label, folder, project or person that an allowed action may use. "
        "Without one, an action that needs a target is refused."
    )
    list_display = ("shown_name", "action_type", "kind", "identity", "account", "group")
    list_filter = (
        ("account", AutocompleteFilter),
        "action_type",
        "kind",
        ("group", AutocompleteFilter),
    )
    list_select_related = ("account", "group")
    search_fields = ("name", "external_id", "account__external_user_id")
    autocomplete_fields = ("account", "group")
    fields = (
        "account",
        "action_type",
        "resource_type",
        "source",
        "kind",
        "external_id",
        "name",
        "group",
    )
    actions = ("refresh_names",)

    @display(description="Name")  # type: ignore[untyped-decorator]
    def shown_name(self, row: AllowedActionOption) -> str:
        return visible(row.name)

    @display(description="Identity")  # type: ignore[untyped-decorator]
    def identity(self, row: AllowedActionOption) -> str:
        return visible(row.external_id)

    @action(  # type: ignore[untyped-decorator]
        description="Use the provider's present names", permissions=["change"]
    )
    def refresh_names(self, request: HttpRequest, queryset: QuerySet[AllowedActionOption]) -> None:
        try:
            found = target_names.refresh_names(
                queryset.select_related("account__organisation"), author=author(request)
            )
        except ProviderError:
            messages.error(request, "The provider could not be asked. Try again later.")
            return
        for old, new in found.renamed:
            messages.success(request, f"“{visible(old)}” is now called “{visible(new)}”.")
        for name in found.gone:
            messages.warning(request, f"“{visible(name)}” is gone: remove it, or it is refused.")
        if not (found.renamed or found.gone):
            messages.info(request, "Every name is up to date.")


@admin.register(TargetGroup)
class TargetGroupAdmin(PolicyAdmin):
    empty = "A group puts targets together, such as labels of which a mail gets one alone."
    list_display = ("name", "account", "cardinality")
    list_filter = (("account", AutocompleteFilter), "cardinality")
    search_fields = ("name", "account__external_user_id")
    fields = ("account", "name", "cardinality")

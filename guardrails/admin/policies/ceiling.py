"""Admin of the organisation's ceiling."""

from django.contrib import admin
from unfold.decorators import display

from guardrails.admin.policies.conditions_form import WithConditions
from guardrails.admin.policies.trial import DraftAdmin
from guardrails.models import CeilingLimit

CEILING_COLOURS = {
    "Forbidden": "danger",
    "At most as a draft": "danger",
    "At most after asking a person": "info",
    "Only under these conditions": "warning",
}


class CeilingLimitForm(WithConditions):
    class Meta:
        model = CeilingLimit
        fields = ("organisation", "action_type", "at_most", "hold_seconds", "conditions", "note")


@admin.register(CeilingLimit)
class CeilingLimitAdmin(DraftAdmin):
    empty = (
        "The ceiling holds for all accounts of an organisation: no allowed action goes beyond it."
    )
    organisation_path = "organisation"
    form = CeilingLimitForm
    list_display = ("what", "organisation", "limit", "only_if", "note")
    list_filter = ("organisation", "at_most")
    list_select_related = ("organisation",)
    search_fields = ("action_type", "note")
    autocomplete_fields = ()

    @display(description="Action")  # type: ignore[untyped-decorator]
    def what(self, row: CeilingLimit) -> str:
        return row.get_action_type_display() or "Every action"

    @display(description="At most", label=CEILING_COLOURS)  # type: ignore[untyped-decorator]
    def limit(self, row: CeilingLimit) -> str:
        return row.get_at_most_display()

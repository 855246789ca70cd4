"""What every admin of policy rows has: each change is recorded in the history of policy."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from unfold.admin import ModelAdmin
from unfold.decorators import display

from guardrails.admin.authors import author
from guardrails.admin.findings import tell
from guardrails.decide.conditions import vocabulary as conditions
from guardrails.facts.text import visible
from guardrails.policies import changes


def kinds(raw: Any) -> str:
    """Stored conditions in few words."""
    found = [getattr(one, "kind", "unknown") for one in conditions.read_all(raw)]
    return ", ".join(kind.replace("_", " ") for kind in found) or "always"


class PolicyAdmin(ModelAdmin):  # type: ignore[misc]  # the theme is untyped
    list_per_page = 50
    list_filter_submit = True
    show_full_result_count = False
    autocomplete_fields: Sequence[str] = ("account",)
    list_select_related: Sequence[str] = ("account",)

    def recording(self, ids: Sequence[UUID], request: HttpRequest) -> AbstractContextManager[None]:
        """Whatever becomes of these rows meanwhile is in the history of policy."""
        return changes.recording(self.model, ids, author=author(request))

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Sequence[Any]:
        """Who may only look sees conditions in words, not as they are stored."""
        found: Sequence[Any] = super().get_fields(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return found
        return [self.in_words if name == "conditions" else name for name in found]

    @display(description="Only if")  # type: ignore[untyped-decorator]
    def in_words(self, row: Any) -> str:
        """One line for each condition."""
        sentences = [visible(one.sentence) for one in conditions.read_all(row.conditions)]
        lines = ((f"{one[0].upper()}{one[1:]}.",) for one in sentences)
        return format_html_join(mark_safe("<br>"), "{}", lines) or "always"

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        with self.recording([obj.pk], request):
            super().save_model(request, obj, form, change)
        tell(request, obj)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        with self.recording([obj.pk], request):
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        ids = list(queryset.values_list("pk", flat=True))
        with self.recording(ids, request):
            super().delete_queryset(request, queryset)

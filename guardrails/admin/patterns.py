"""Admin of learned patterns: a proposal acts only once a person approved it."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import TabularInline
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.decorators import action, display

from guardrails import patterns
from guardrails.admin.authors import operator
from guardrails.admin.base import PolicyAdmin
from guardrails.models import LearnedPattern, PatternAction
from guardrails.text import visible

PATTERN_COLOURS = {"Proposed": "info", "Approved": "success", "Suspended": "warning"}


class PatternActionInline(TabularInline):  # type: ignore[misc]
    model = PatternAction
    extra = 0
    fields = ("order", "action_type", "arguments")


@admin.register(LearnedPattern)
class LearnedPatternAdmin(PolicyAdmin):
    list_display = ("name", "account", "standing", "matcher", "hits", "last_hit_at")
    list_filter = (("account", AutocompleteSelectFilter), "state")
    search_fields = ("name", "sender_address", "sender_domain", "list_id")
    inlines = (PatternActionInline,)
    actions = ("approve", "suspend")
    fields = (
        "account",
        "name",
        "sender_address",
        "sender_domain",
        "list_id",
        "subject",
        "content_type",
        "reason",
        "standing",
        "approved_by",
        "approved_at",
        "hits",
        "last_hit_at",
    )
    readonly_fields = ("standing", "approved_by", "approved_at", "hits", "last_hit_at")

    @display(description="State", label=PATTERN_COLOURS)  # type: ignore[untyped-decorator]
    def standing(self, row: LearnedPattern) -> str:
        return row.get_state_display()

    @display(description="Matches")  # type: ignore[untyped-decorator]
    def matcher(self, row: LearnedPattern) -> str:
        parts = (row.sender_address, row.sender_domain, row.list_id, row.subject)
        return visible(" · ".join(part for part in parts if part))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        changed = form.has_changed() or any(formset.has_changed() for formset in formsets)
        with self.recording([form.instance.pk], request):
            super().save_related(request, form, formsets, change)
            reopened = change and changed and patterns.reopen(pattern_id=form.instance.pk)
        if reopened:
            messages.warning(request, "The pattern changed, so somebody must approve it again.")

    @action(description="Approve: let these patterns act")  # type: ignore[untyped-decorator]
    def approve(self, request: HttpRequest, queryset: QuerySet[LearnedPattern]) -> None:
        by, now = operator(request), timezone.now()
        ids = list(queryset.values_list("pk", flat=True))
        with self.recording(ids, request):
            count = sum(patterns.approve(pattern_id=key, by=by, now=now) for key in ids)
        messages.success(request, f"{count} patterns act from now on.")

    @action(description="Suspend: stop these patterns")  # type: ignore[untyped-decorator]
    def suspend(self, request: HttpRequest, queryset: QuerySet[LearnedPattern]) -> None:
        ids = list(queryset.values_list("pk", flat=True))
        with self.recording(ids, request):
            count = sum(patterns.suspend(pattern_id=key) for key in ids)
        messages.success(request, f"{count} patterns are suspended.")

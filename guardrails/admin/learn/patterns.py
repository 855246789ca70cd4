"""Admin of learned patterns: a proposal acts only once a person approved it."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from unfold.decorators import action, display

from guardrails.admin.base import PolicyAdmin
from guardrails.admin.learn import pattern_page
from guardrails.admin.learn.pattern_actions_form import PatternActionForm, PatternActionFormSet
from guardrails.facts.text import visible
from guardrails.learn import evidence, patterns
from guardrails.models import LearnedPattern, PatternAction
from integrations.web.admin_pages import RowPage, operator
from integrations.web.bound_admin import AutocompleteFilter, RowsInline

PATTERN_COLOURS = {
    "Proposed": "info",
    "Approved": "success",
    "Suspended": "warning",
    "Expired": "warning",
    "Unused": "warning",
}


class PatternActionInline(RowsInline):
    model = PatternAction
    form = PatternActionForm
    formset = PatternActionFormSet
    extra = 0


@admin.register(LearnedPattern)
class LearnedPatternAdmin(RowPage, PolicyAdmin):
    empty = (
        "When like mail is handled alike again and again, a pattern is proposed here. It "
        "acts only once a person approves it."
    )
    list_display = ("name", "account", "status", "matcher", "hits", "precise", "last_hit_at")
    list_filter = (("account", AutocompleteFilter), "state", "proposed_by")
    search_fields = ("name", "sender_address", "sender_domain", "list_id")
    inlines = (PatternActionInline,)
    actions = ("approve", "suspend")
    change_form_outer_before_template = "guardrails/pattern.html"
    buttons = {"decide": ("guardrails.change_learnedpattern",)}
    row_related = ("account__organisation",)
    fields = (
        "account",
        "name",
        "sender_address",
        "sender_domain",
        "list_id",
        "subject",
        "content_type",
        "reason",
    )

    @display(description="State", label=PATTERN_COLOURS)  # type: ignore[untyped-decorator]
    def status(self, row: LearnedPattern) -> str:
        now = timezone.now()
        if row.is_expired(now):
            return "Expired"
        return "Unused" if row.is_unused(now) else row.get_state_display()

    @display(description="Matches")  # type: ignore[untyped-decorator]
    def matcher(self, row: LearnedPattern) -> str:
        parts = (row.sender_address, row.sender_domain, row.list_id, row.subject)
        return visible(" · ".join(part for part in parts if part))

    @display(description="Precision")  # type: ignore[untyped-decorator]
    def precise(self, row: LearnedPattern) -> str:
        return "no hits yet" if row.precision is None else f"{row.precision:.0%}"

    def row_context(self, request: HttpRequest, row: LearnedPattern) -> dict[str, Any]:
        may_decide = {"may_decide": self.may_press(request, "decide")}
        if request.method != "GET":  # the form comes back: its pattern isn't tried again
            return may_decide
        return pattern_page.context(row) | {"status": self.status(row)} | may_decide

    def decide(self, request: HttpRequest, key: UUID) -> HttpResponse:
        """An operator's word."""
        chosen = LearnedPattern.objects.filter(pk=key)
        if request.POST.get("word") == "approve":
            self.approve(request, chosen)
        else:
            self.suspend(request, chosen)
        return redirect("admin:guardrails_learnedpattern_change", key)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        changed = form.has_changed() or any(formset.has_changed() for formset in formsets)
        with self.recording([form.instance.pk], request):
            super().save_related(request, form, formsets, change)
            reopened = change and changed and patterns.reopen(pattern_id=form.instance.pk)
        if reopened:
            messages.warning(request, "The pattern changed, so it must be approved again.")

    @action(  # type: ignore[untyped-decorator]
        description="Approve or renew: let these patterns act", permissions=["change"]
    )
    def approve(self, request: HttpRequest, queryset: QuerySet[LearnedPattern]) -> None:
        by, now = operator(request), timezone.now()
        rows = list(queryset)
        with self.recording([row.pk for row in rows], request):
            left = [r for r in rows if not patterns.approve(pattern_id=r.pk, by=by, now=now)]
        if count := len(rows) - len(left):
            messages.success(request, f"{count} {'acts' if count == 1 else 'act'} from now on.")
        for row in left:
            lack = evidence.refuse_approval(row, row.evidence.all())
            messages.warning(request, f"“{row}” does not act. {lack or 'Try again.'}")

    @action(  # type: ignore[untyped-decorator]
        description="Suspend: stop these patterns", permissions=["change"]
    )
    def suspend(self, request: HttpRequest, queryset: QuerySet[LearnedPattern]) -> None:
        now = timezone.now()
        ids = list(queryset.values_list("pk", flat=True))
        with self.recording(ids, request):
            why = f"{operator(request)} suspended it."
            count = sum(patterns.suspend(pattern_id=key, why=why, now=now) for key in ids)
        messages.success(request, f"{count} {'is' if count == 1 else 'are'} suspended.")

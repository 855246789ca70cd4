"""The inbox of approvals: what waits for a person, and their word on it."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Case, When
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path
from unfold.decorators import display

from guardrails import approvals
from guardrails.admin import approval_page
from guardrails.admin.authors import operator
from guardrails.models import Approval
from guardrails.text import visible
from integrations.read_only_admin import ReadOnlyAdmin

APPROVAL_COLOURS = {
    "Waiting": "info",
    "Confirmed, being done": "info",
    "Confirmed and done": "success",
    "Confirmed, but failed": "danger",
    "Confirmed, but refused": "warning",
    "Rejected": "warning",
    "Expired": "warning",
}


@admin.register(Approval)
class ApprovalAdmin(ReadOnlyAdmin):
    """The inbox: what waits comes first. Nothing can be edited, only confirmed or rejected."""

    list_display = ("created_at", "headline", "standing", "account", "decided_at", "decided_by")
    list_display_links = ("created_at", "headline")
    list_filter = ("state", "action_type", "organisation")
    list_select_related = ("account",)
    ordering = (Case(When(state="pending", then=0), default=1).asc(), "-created_at")
    search_fields = ("id", "action_id", "external_user_id", "turn_id")
    search_help_text = "The whole id of the approval, the action, the user or the turn"
    fields = ("account", "standing", "decided_by", "decision_reason", "action_id")
    readonly_fields = ("standing",)
    change_form_outer_before_template = "guardrails/approval.html"

    @display(description="Action")  # type: ignore[untyped-decorator]
    def headline(self, row: Approval) -> str:
        return visible(row.description, limit=160)

    @display(description="State", label=APPROVAL_COLOURS)  # type: ignore[untyped-decorator]
    def standing(self, row: Approval) -> str:
        return row.get_state_display()

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.decide)
        return [
            path("<uuid:approval_id>/decide/", view, name="guardrails_approval_decide"),
            *super().get_urls(),
        ]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        context = approval_page.context(row) if row else {}
        response: HttpResponse = super().change_view(
            request,
            object_id,
            form_url,
            {**(extra_context or {}), **context, "may_decide": may_decide(request)},
        )
        return response

    def decide(self, request: HttpRequest, approval_id: UUID) -> HttpResponse:
        """An operator's word, posted by the buttons of the page."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not may_decide(request):
            raise PermissionDenied
        row = self.get_object(request, str(approval_id))
        word = request.POST.get("word")
        if row is None or word not in ("confirm", "reject"):
            messages.error(request, "There is no such approval, or no such answer.")
            return redirect("admin:guardrails_approval_changelist")
        given: dict[str, Any] = {
            "organisation_id": row.organisation_id,
            "approval_id": row.id,
            "decided_by": operator(request),
            "digest": request.POST.get("digest", ""),
        }
        try:
            if word == "reject":
                result = approvals.reject(**given, reason=request.POST.get("reason", "")[:1000])
            else:
                result = approvals.confirm(**given)
        except approvals.ApprovalConflict as conflict:
            messages.warning(request, str(conflict))
        else:
            done = result.status in ("succeeded", "noop") or result.reason == "rejected"
            tell = messages.success if done else messages.warning
            tell(request, f"{visible(result.description)}: {visible(result.sentence)}")
        return redirect("admin:guardrails_approval_change", row.pk)


def may_decide(request: HttpRequest) -> bool:
    return request.user.has_perm("guardrails.change_approval")

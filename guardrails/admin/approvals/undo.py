"""Taking actions back: the page that shows what would be undone, and what was."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from unfold.decorators import display

from audit.contracts import Recorded
from audit.ledger import people
from audit.ledger.people_admin import PeopleAdmin
from audit.ledger.selectors import recorded
from audit.ledger.timeline import moment
from guardrails.admin.base import ActionRowAdmin
from guardrails.execute import undo
from guardrails.facts.text import about_of, heading_of, visible
from guardrails.models import Undo
from integrations.web import staff
from integrations.web.admin_pages import operator


@admin.register(Undo)
class UndoAdmin(PeopleAdmin, ActionRowAdmin):
    """What people took back. Each action has a page from which it is undone."""

    empty = "What was undone by a person comes here, with what became of it."

    list_display = ("when", "headline", "about", "state", "outcome", "commanded_by", "account")
    people = {"commanded_by": "Commanded by"}
    list_filter = ("organisation",)
    list_select_related = ("account",)
    search_fields = ("undone_action_id", "action_id")
    search_help_text = "The whole id of the action, or of the one that took it back"
    fields = ("headline", "account", "when", "commanded_by", "state", "outcome", "in_ledger")
    readonly_fields = ("headline", "when", "in_ledger")

    @display(description="Commanded")  # type: ignore[untyped-decorator]
    def when(self, row: Undo) -> str:
        return moment(row.commanded_at)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.undo_view)
        return [path("of/<uuid:action_id>/", view, name="guardrails_undo_of"), *super().get_urls()]

    def undo_view(self, request: HttpRequest, action_id: UUID) -> HttpResponse:
        """What would be taken back, with a button; the button's command."""
        phases = recorded(action_id)
        if not phases or not staff.may_meet(request.user, phases[0].tenant_id):
            raise Http404
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            if not may_undo(request):
                raise PermissionDenied
            _command(request, phases)
            return redirect("admin:guardrails_undo_of", action_id)
        context = {**self.admin_site.each_context(request), **_page(phases)}
        context["may_undo"] = may_undo(request)
        return TemplateResponse(request, "guardrails/undo.html", context)


def may_undo(request: HttpRequest) -> bool:
    return request.user.has_perm("guardrails.add_undo")


def _command(request: HttpRequest, phases: tuple[Recorded, ...]) -> None:
    try:
        result = undo.undo(
            organisation_id=phases[0].tenant_id,
            action_id=phases[0].action_id,
            by=operator(request),
        )
    except undo.ActionNotFound:
        messages.error(request, "The account of this action is gone.")
        return
    tell = messages.success if result.status in ("succeeded", "noop") else messages.warning
    tell(request, f"{visible(result.description)}: {visible(result.sentence)}")


def _page(phases: tuple[Recorded, ...]) -> dict[str, Any]:
    last = phases[-1]
    undone = [str(phase.payload["undo"]) for phase in phases if phase.payload.get("undo")]
    row = Undo.objects.filter(undone_action_id=last.action_id).first()
    ledger = reverse("admin:audit_executedagentaction_changelist")
    description = str(last.payload.get("description") or last.action_type)
    return {
        "title": "Undo an action",
        "headline": visible(heading_of(description)),
        "about": visible(about_of(description)),
        "on_behalf_of": last.on_behalf_of,
        "at": moment(last.recorded_at),
        "how": visible(undone[-1]) if undone else "",
        "can_be_undone": undo.can_be_undone(phases),
        "is_undone": row is not None and row.state in ("succeeded", "noop"),
        "row": row,
        "by": visible(people.name_one(row.organisation_id, row.commanded_by)) if row else "",
        "when": moment(row.commanded_at) if row else "",
        "outcome": visible(row.outcome) if row else "",
        "ledger_link": f"{ledger}?q={last.action_id}",
        "undoing_link": f"{ledger}?q={row.action_id}" if row else "",
    }

"""Trying a permission or a target on the decisions of the past, before it is saved."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from guardrails import selectors, simulation
from guardrails.admin.base import PolicyAdmin

NEWLY: tuple[tuple[simulation.Verdict, str], ...] = (
    ("allow", "Newly allowed"),
    ("ask", "Newly asked about"),
    ("refuse", "Newly refused"),
)


class DraftAdmin(PolicyAdmin):
    """Rows that can be tried on the decisions of the past before they are saved."""

    change_form_outer_after_template = "guardrails/try_first.html"

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        found = self.try_first(request, object_id) if "_try" in request.POST else None
        response: HttpResponse = found or super().changeform_view(
            request, object_id, form_url, extra_context
        )
        return response

    def try_first(self, request: HttpRequest, object_id: str | None) -> HttpResponse | None:
        """The page of what the filled-in form would change. None when it is not valid: then
        the form itself says why."""
        row = self.get_object(request, object_id) if object_id else None
        may = self.has_change_permission(request, row) if row else self.has_add_permission(request)
        if not may or bool(object_id) != bool(row):
            raise PermissionDenied
        form = self.get_form(request, row, change=row is not None)(request.POST, instance=row)
        if not form.is_valid():
            return None
        account = form.instance.account.ref()
        draft = simulation.drafted(selectors.policy_snapshot(account), form.instance)
        replay = simulation.replay(account, draft)
        context = {
            **self.admin_site.each_context(request),
            "title": "What this would change",
            "account": form.instance.account,
            "row": form.instance,
            "replay": replay,
            "groups": [(title, replay.newly(verdict)) for verdict, title in NEWLY],
        }
        return TemplateResponse(request, "guardrails/replay.html", context)

"""Trying an allowed action, a target or a ceiling limit on the past, before it is saved."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from guardrails.admin.base import PolicyAdmin
from guardrails.admin.policies.draft_form import DraftForm
from guardrails.policies import drafts, simulation

NEWLY: tuple[tuple[simulation.Verdict, str], ...] = (
    ("allow", "Newly allowed"),
    ("ask", "Newly asked about"),
    ("refuse", "Newly refused"),
)
LASTS = (100, 500, 1000)
OF: tuple[tuple[simulation.Of, str], ...] = (
    ("decisions", "decisions"),
    ("mails", "mails that came in"),
)
OWN = ("csrfmiddlewaretoken", "_try", "_last", "_of")


class DraftAdmin(PolicyAdmin):
    """Rows that can be tried on the decisions of the past before they are saved."""

    form = DraftForm
    change_form_outer_after_template = "guardrails/try_first.html"

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        found = self.try_first(request, object_id) if "_try" in request.POST else None
        context = {**(extra_context or {}), "lasts": LASTS, "kinds_of_past": OF}
        response: HttpResponse = found or super().changeform_view(
            request, object_id, form_url, context
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
        draft = form.instance
        account = getattr(draft, "account", None)
        replay = simulation.replay(
            lambda policy: drafts.with_row(policy, draft),
            organisation_id=account.organisation_id if account else draft.organisation_id,
            account_id=account.pk if account else None,
            **chosen(request),
        )
        hidden_fields = [
            (name, value)
            for name, values in request.POST.lists()
            for value in values
            if name not in OWN
        ]
        context = self.admin_site.each_context(request) | describe(replay)
        whose = account or f"all accounts of {draft.organisation}"
        context |= {"what": f"{draft}, for {whose}.", "kept": hidden_fields}
        return TemplateResponse(request, "guardrails/replay.html", context)


def chosen(request: HttpRequest) -> dict[str, Any]:
    """Of what and how far back to look, as somebody chose it."""
    given = request.POST or request.GET
    last, of = given.get("_last", ""), given.get("_of")
    return {
        "last": int(last) if last in map(str, LASTS) else LASTS[0],
        "of": of if of in dict(OF) else "decisions",
    }


def describe(replay: simulation.Replay) -> dict[str, Any]:
    """What the page of a replay shows."""
    return {
        "title": "What this would change",
        "replay": replay,
        "groups": [(title, replay.newly(verdict)) for verdict, title in NEWLY],
    }

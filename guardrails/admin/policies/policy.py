"""Pages about policy as a whole, beside the lists of its rows."""

from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from guardrails.admin.policies.account_page import account_page, why_page
from guardrails.admin.policies.file_page import export_page, import_page
from guardrails.admin.policies.shadow_page import shadow_page
from guardrails.admin.policies.trial_page import trial_page
from guardrails.admin.scope import choose_organisation, uuid_or_none
from guardrails.policies import history
from integrations.models import Account


def urls(site: AdminSite) -> list[URLPattern]:
    """The addresses of these pages, each for people who may see allowed actions."""

    def page(route: str, name: str, view: Any) -> URLPattern:
        def permitted(request: HttpRequest, **given: Any) -> HttpResponse:
            if not request.user.has_perm("guardrails.view_allowedaction"):
                raise PermissionDenied
            found: HttpResponse = view(request, site.each_context(request), **given)
            return found

        return path(route, site.admin_view(permitted), name=f"guardrails_policy_{name}")

    return [
        page("history/", "history", history_page),
        page("explain/", "explain", account_page),
        page("simulate/", "simulate", trial_page),
        page("why/<uuid:action_id>/", "why", why_page),
        page("import/", "import", import_page),
        page("export/", "export", export_page),
        page("shadow/", "shadow", shadow_page),
    ]


def history_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Who changed what, newest first; with `change` from that one of the ledger on."""
    organisations, chosen = choose_organisation(request)
    account = uuid_or_none(request.GET.get("account", ""))
    before = uuid_or_none(request.GET.get("before", ""))
    change = uuid_or_none(request.GET.get("change", ""))
    if change:
        made_in = history.organisation_of(change)
        chosen = next((one for one in organisations if one.id == made_in), None)
        before = history.behind(change)
    found = (
        history.history(
            organisation_id=chosen.id,
            account_id=account,
            before=before,
        )
        if chosen
        else history.HistoryPage(changes=(), before=None)
    )
    wanted = {one.account_id for one in found.changes if one.account_id}
    accounts = Account.objects.filter(organisation=chosen, pk__in=wanted)
    names = {one.pk: str(one) for one in accounts}
    context |= {
        "title": "History of policy",
        "organisations": organisations,
        "organisation": chosen,
        "account": account,
        "changes": [(one, one.account_id and names.get(one.account_id)) for one in found.changes],
        "before": found.before,
    }
    return TemplateResponse(request, "guardrails/history.html", context)

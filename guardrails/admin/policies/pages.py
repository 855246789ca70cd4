"""The addresses of pages beside the lists of rows: about policy, or the ledger as a whole."""

from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from guardrails.admin.comply import keeping_pages
from guardrails.admin.comply.auditor_page import auditor_page
from guardrails.admin.comply.health_page import health_page
from guardrails.admin.comply.reconciliation_page import reconciliation_page
from guardrails.admin.policies.account_page import account_page, why_page
from guardrails.admin.policies.file_page import export_page, import_page
from guardrails.admin.policies.history_page import history_page
from guardrails.admin.policies.shadow_page import shadow_page
from guardrails.admin.policies.trial_page import trial_page


def urls(site: AdminSite) -> list[URLPattern]:
    """Pages about policy for people who may see allowed actions, those about the ledger for
    people who may see the ledger."""

    def page(route: str, name: str, view: Any, right: str) -> URLPattern:
        def permitted(request: HttpRequest, **given: Any) -> HttpResponse:
            if not request.user.has_perm(right):
                raise PermissionDenied
            found: HttpResponse = view(request, site.each_context(request), **given)
            return found

        return path(route, site.admin_view(permitted), name=f"guardrails_{name}")

    def policy_page(route: str, name: str, view: Any) -> URLPattern:
        return page(route, f"policy_{name}", view, "guardrails.view_allowedaction")

    def ledger_page(route: str, name: str, view: Any) -> URLPattern:
        return page(route, f"ledger_{name}", view, "audit.view_executedagentaction")

    return [
        policy_page("history/", "history", history_page),
        policy_page("explain/", "explain", account_page),
        policy_page("simulate/", "simulate", trial_page),
        policy_page("why/<uuid:action_id>/", "why", why_page),
        policy_page("import/", "import", import_page),
        policy_page("export/", "export", export_page),
        policy_page("shadow/", "shadow", shadow_page),
        ledger_page("reconciliation/", "reconciliation", reconciliation_page),
        ledger_page("for-auditors/", "auditor", auditor_page),
        ledger_page("health/", "health", health_page),
        *(ledger_page(one.route, one.name, one) for one in keeping_pages.PAGES),
    ]

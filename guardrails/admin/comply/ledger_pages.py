"""Pages about the ledger as a whole, for people who may see the ledger."""

from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from guardrails.admin.comply.health_page import health_page
from guardrails.admin.comply.keeping_pages import PAGES
from guardrails.admin.comply.reconciliation_page import reconciliation_page


def urls(site: AdminSite) -> list[URLPattern]:
    def page(route: str, name: str, view: Any) -> URLPattern:
        def permitted(request: HttpRequest, **given: Any) -> HttpResponse:
            if not request.user.has_perm("audit.view_executedagentaction"):
                raise PermissionDenied
            found: HttpResponse = view(request, site.each_context(request), **given)
            return found

        return path(route, site.admin_view(permitted), name=f"guardrails_ledger_{name}")

    return [
        page("reconciliation/", "reconciliation", reconciliation_page),
        page("health/", "health", health_page),
        *(page(one.route, one.name, one) for one in PAGES),
    ]

"""Pages about policy as a whole, beside the lists of its rows."""

from typing import Any
from uuid import UUID

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from guardrails import history
from integrations.models import Account, Organisation


def urls(site: AdminSite) -> list[URLPattern]:
    """The addresses of these pages, each for people who may see permissions."""

    def page(route: str, name: str, view: Any) -> URLPattern:
        def permitted(request: HttpRequest, **given: Any) -> HttpResponse:
            if not request.user.has_perm("guardrails.view_allowedaction"):
                raise PermissionDenied
            found: HttpResponse = view(request, site.each_context(request), **given)
            return found

        return path(route, site.admin_view(permitted), name=f"guardrails_policy_{name}")

    return [page("history/", "history", history_page)]


def history_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Who changed what, newest first."""
    organisations, chosen = choose_organisation(request)
    account = _uuid(request.GET.get("account", ""))
    found = (
        history.history(
            organisation_id=chosen.id,
            account_id=account,
            before=_uuid(request.GET.get("before", "")),
        )
        if chosen
        else history.HistoryPage(changes=(), before=None)
    )
    context |= {
        "title": "History of policy",
        "organisations": organisations,
        "organisation": chosen,
        "account": Account.objects.filter(pk=account).first() if account else None,
        "page": found,
    }
    return TemplateResponse(request, "guardrails/history.html", context)


def choose_organisation(
    request: HttpRequest,
) -> tuple[list[Organisation], Organisation | None]:
    """All organisations, and the one that the address names, else the first."""
    organisations = list(Organisation.objects.order_by("slug"))
    wanted = request.GET.get("organisation", "default")
    chosen = next((row for row in organisations if row.slug == wanted), None)
    return organisations, chosen or next(iter(organisations), None)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None

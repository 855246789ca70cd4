"""The page of an organisation's month: sentences first, tables after, and an export of it."""

import hashlib
from datetime import date, timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.utils import timezone

from audit import events
from guardrails import health
from guardrails.admin.authors import operator
from guardrails.admin.scope import choose_organisation
from integrations.models import Organisation

ACTION_TYPE = "ledger.report"
FIRST_YEAR = 2020


def health_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """A month, the present one without a choice. `format=csv` exports it, which is recorded."""
    if request.method != "GET":
        return HttpResponseNotAllowed(["GET"])
    organisations, organisation = choose_organisation(request)
    today = timezone.now().date()
    month = _month(request.GET.get("month", ""), today)
    found = health.health(organisation.id, month=month) if organisation else None
    if organisation and found and request.GET.get("format") == "csv":
        return _export(request, organisation, found)
    following = (month + timedelta(days=32)).replace(day=1)
    context |= {
        "title": f"Health report, {month:%B %Y}",
        "organisations": organisations,
        "organisation": organisation,
        "month": month,
        "before": month - timedelta(days=1),
        "after": following if following <= today else None,
        "found": found,
        "is_running": month == today.replace(day=1),
    }
    return TemplateResponse(request, "guardrails/health.html", context)


def _month(text: str, today: date) -> date:
    if not text:
        return today.replace(day=1)
    try:
        found = date.fromisoformat(f"{text[:7]}-01")
    except ValueError as error:
        raise Http404("There is no such month.") from error
    if not found.year >= FIRST_YEAR or found > today:
        raise Http404("There is no such month.")
    return found


def _export(request: HttpRequest, organisation: Organisation, found: health.Health) -> HttpResponse:
    content = health.as_csv(found)
    events.record(
        ACTION_TYPE,
        tenant_id=organisation.id,
        actor_type="admin",
        actor_id=operator(request),
        payload={
            "month": f"{found.month:%Y-%m}",
            "format": "csv",
            "sha256": hashlib.sha256(content).hexdigest(),
        },
    )
    name = f"remit-health-{organisation.slug}-{found.month:%Y-%m}.csv"
    return HttpResponse(
        content,
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )

"""The page of an organisation's month: sentences first, tables after, and an export of it."""

import hashlib
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.utils import timezone

from audit.ledger import events
from audit.ledger.months import Month
from guardrails.comply import health
from integrations.models import Organisation
from integrations.web.admin_pages import choose_organisation, operator

ACTION_TYPE = "ledger.report"
FIRST = Month.parse("2020-01")


def health_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """A month, the present one without a choice. `format=csv` exports it, which is recorded."""
    if request.method != "GET":
        return HttpResponseNotAllowed(["GET"])
    organisations, organisation = choose_organisation(request)
    this = Month.of(timezone.now())
    month = _month(request.GET.get("month", ""), this)
    found = health.health(organisation.id, month=month) if organisation else None
    if organisation and found and request.GET.get("format") == "csv":
        return _export(request, organisation, found)
    context |= {
        "title": f"Health report, {month.first:%B %Y}",
        "organisations": organisations,
        "organisation": organisation,
        "month": month,
        "after": month.following if month < this else None,
        "found": found,
        "is_running": month == this,
    }
    return TemplateResponse(request, "guardrails/health.html", context)


def _month(text: str, this: Month) -> Month:
    if not text:
        return this
    try:
        found = Month.parse(text[:7])
    except ValueError as error:
        raise Http404("There is no such month.") from error
    if not FIRST <= found <= this:
        raise Http404("There is no such month.")
    return found


def _export(request: HttpRequest, organisation: Organisation, found: health.Health) -> HttpResponse:
    content = health.as_csv(found)
    events.record(
        ACTION_TYPE,
        tenant_id=organisation.id,
        after_end=True,
        actor_type="admin",
        actor_id=operator(request),
        payload={
            "month": str(found.month),
            "format": "csv",
            "sha256": hashlib.sha256(content).hexdigest(),
        },
    )
    name = f"remit-health-{organisation.slug}-{found.month}.csv"
    return HttpResponse(
        content,
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )

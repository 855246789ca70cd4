"""The page of reconciliation: where provider and ledger disagree, and what people found."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from audit.contracts import Recorded
from audit.ledger import people
from audit.ledger.selectors import about_ledger
from audit.ledger.timeline import moment
from guardrails.actions import registry
from guardrails.comply import incidents
from guardrails.comply.reconciliation import rows as reconciliation_rows
from guardrails.execute.settling import UNRESOLVED
from guardrails.facts.text import visible
from integrations.contracts.field_types import uuid_or_none
from integrations.models import Organisation
from integrations.ports.registry import BY_SOURCE
from integrations.web.admin_pages import choose_organisation, operator

RUNS, PAGE = 10, 25
MAY_LOOK_INTO = "guardrails.change_allowedaction"


def reconciliation_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Open incidents first, each with a place for what somebody found; then the runs."""
    organisations, organisation = choose_organisation(request)
    if request.method == "POST":
        if organisation is None:
            raise Http404("There is no such organisation.")
        return _look_into(request, organisation)
    if request.method != "GET":
        return HttpResponseNotAllowed(["GET", "POST"])
    now = timezone.now()
    found = incidents.incidents(organisation.id, now=now) if organisation else ()
    rows = Paginator(sorted(found, key=lambda one: one.looked_into is not None), PAGE)
    runs = (
        about_ledger(organisation.id, reconciliation_rows.SUMMARY, limit=RUNS)
        if organisation
        else ()
    )
    page = rows.get_page(request.GET.get("page"))
    names = people.find_names(one.looked_into for one in page if one.looked_into)
    context |= {
        "title": "Reconciliation",
        "organisations": organisations,
        "organisation": organisation,
        "page": page,
        "incidents": [_incident(one, names) for one in page],
        "open": sum(one.looked_into is None for one in found),
        "runs": [_run(row) for row in runs],
        "may_look_into": request.user.has_perm(MAY_LOOK_INTO),
    }
    return TemplateResponse(request, "guardrails/reconciliation.html", context)


def _look_into(request: HttpRequest, organisation: Organisation) -> HttpResponse:
    if not request.user.has_perm(MAY_LOOK_INTO):
        raise PermissionDenied
    action_id = uuid_or_none(request.POST.get("incident", ""))
    try:
        if action_id is None:
            raise incidents.IncidentNotFound
        incidents.look_into(
            organisation_id=organisation.id,
            action_id=action_id,
            by=operator(request),
            note=request.POST.get("note", ""),
        )
    except incidents.IncidentNotFound as error:
        raise Http404("There is no such incident.") from error
    except ValueError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Noted in the ledger. The incident is closed.")
    chosen = urlencode({"organisation": organisation.slug, "page": request.GET.get("page", "1")})
    return redirect(f"{reverse('admin:guardrails_ledger_reconciliation')}?{chosen}")


def _incident(one: incidents.Incident, names: people.Names) -> dict[str, Any]:
    row, payload = one.row, one.row.payload
    last = one.looked_into
    change = payload.get("change")
    return {
        "id": row.action_id,
        "row": row.id,
        "headline": _headline(change, row, payload),
        "sentence": visible(str(payload.get("sentence", "")) or row.decision_reason),
        "who": visible(f"{payload.get('account', '')} · {_label(row.provider)}"),
        "found_at": moment(row.recorded_at),
        "facts": _facts(change),
        "about": row.parent_action_id,
        "looked_into": last is not None,
        "note": one.note,
        "by": visible(people.call(last.tenant_id, last.actor_id, names)) if last else "",
        "noted_at": moment(last.recorded_at) if last else "",
    }


def _headline(change: Any, row: Recorded, payload: Mapping[str, Any]) -> str:
    if isinstance(change, Mapping):
        verb = "sent" if change.get("change") == "sent" else f"was {change.get('change', '')}"
        return visible(f"{change.get('kind', '')} {verb}".capitalize(), limit=160)
    action = registry.BY_NAME.get(str(payload.get("action_type", "")))
    if action is None:
        return "Contents were erased"
    is_unknown = row.decision_reason == UNRESOLVED
    return f"{action.title}: done or not?" if is_unknown else f"{action.title} left no trace"


def _facts(change: Any) -> list[tuple[str, str]]:
    """What the provider said, as plain text with its hidden characters shown."""
    if not isinstance(change, Mapping):
        return []
    message = (
        ("Id there", change.get("object_id")),
        ("When", change.get("at")),
        ("Our key", change.get("key") or "none"),
        ("Entry", change.get("id")),
    )
    return [(name, visible(str(value), limit=500)) for name, value in message]


def _run(row: Recorded) -> dict[str, Any]:
    accounts = row.payload.get("accounts", [])
    return {
        "row": row.id,
        "at": moment(row.recorded_at),
        "sentence": visible(str(row.payload.get("sentence", ""))),
        "incidents": row.payload.get("totals", {}).get("incidents", 0),
        "not_compared": [
            f"{visible(str(one['user']))} · {_label(one['source'])}: {visible(one['problem'])}"
            for one in accounts
            if one["problem"]
        ],
    }


def _label(source: str) -> str:
    connector = BY_SOURCE.get(source)
    return connector.label if connector else source

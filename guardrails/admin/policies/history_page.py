"""The page of the history of policy: who changed what."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from guardrails.policies import history
from integrations.contracts.field_types import uuid_or_none
from integrations.models import Account
from integrations.web.admin_pages import choose_organisation


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
        history.history(organisation_id=chosen.id, account_id=account, before=before)
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

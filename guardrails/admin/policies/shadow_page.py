"""The page of an account's shadow policy: what it would have decided, and what becomes of it."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from audit.ledger import people
from audit.ledger.timeline import moment
from guardrails.admin.policies.account_page import address_of
from guardrails.admin.policies.file_page import digest, may_apply
from guardrails.admin.policies.trial import describe
from guardrails.admin.scope import choose_account
from guardrails.facts.text import visible
from guardrails.policies import shadow
from guardrails.policies.recorded_admin import author
from guardrails.policies.text import PolicyFileError
from integrations.models import Account


def shadow_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """How the shadow of the account that is chosen stands; adopted or discarded by a button."""
    context |= choose_account(request)
    account = context["account"]
    found = shadow.load_status(account) if account else None
    if found and request.method == "POST":
        return _decided(request, account, found)
    context |= {"may_apply": may_apply(request), "found": found}
    if found:
        context |= describe(found.replay) | {
            "since": moment(found.row.since),
            "by": visible(people.name_one(account.organisation_id, found.row.by)),
            "shown": digest(found.changes),
        }
    context["title"] = "Policy in shadow"
    return TemplateResponse(request, "guardrails/shadow.html", context)


def _decided(request: HttpRequest, account: Account, found: shadow.ShadowStatus) -> HttpResponse:
    if not may_apply(request):
        raise PermissionDenied
    word = request.POST.get("word")
    if word == "discard":
        shadow.discard(account, author=author(request))
        messages.success(request, "The shadow is gone. The policy has not changed.")
    elif word == "adopt" and request.POST.get("shown") == digest(found.changes):
        try:
            done = shadow.adopt(account, author=author(request))
        except PolicyFileError as error:
            messages.error(request, f"{visible(str(error))} Nothing was changed.")
        else:
            messages.success(request, f"Adopted: {len(done)} entries changed.")
    else:
        messages.warning(request, "The policy changed meanwhile. Look at the differences again.")
        return redirect(request.get_full_path())
    return redirect(address_of(account))

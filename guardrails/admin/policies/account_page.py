"""The policy of one account in words: what its agent may do, and what it was refused."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from audit.contracts import Filters, Recorded
from audit.ledger import selectors as ledger
from audit.ledger.timeline import moment
from guardrails.actions import registry
from guardrails.admin.scope import choose_account
from guardrails.facts.text import visible
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.models import AllowedAction, AllowedActionOption, ShadowPolicy
from guardrails.policies import explain, picking, presets
from guardrails.policies.explain import Effective
from guardrails.policies.findings import findings
from guardrails.policies.why import why
from integrations.models import Account
from integrations.web import staff

REFUSALS_SHOWN = 10
NOBODY = UUID(int=0)


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """One refused action of the ledger, for the list."""

    action_id: UUID
    at: str
    title: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Line:
    """One action of the page, with where to change it."""

    effective: Effective
    takes: str
    permit_query: str
    target_query: str


def account_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """What one account's agent may do now, in words; and whether it may ever reach somebody. Where
    the address names none, of the first one."""
    context |= choose_account(request) | {"title": "What may this agent do?"}
    if "account" not in request.GET:
        context["account"] = context["accounts"].first()
    account, target = context["account"], request.GET.get("target", "").strip()
    if account:
        policy, source = policy_snapshot(account.ref()), account.source
        lines = [_line(account, one) for one in explain.effective(policy, source)]
        context |= {
            "permitted": [one for one in lines if one.effective.verdict != "refuse"],
            "refused": [one for one in lines if one.effective.verdict == "refuse"],
            "findings": findings(policy, source),
            "is_empty": not policy.allowed_actions,
            "presets": presets.list_for(account) if not policy.allowed_actions else {},
            "target": target,
            "names": picking.list_names(account),
            "reach": [
                one
                for id in (picking.find_ids(account, target) if target else ())
                for one in explain.may_ever(policy, source, id, now=timezone.now())
            ],
            "refusals": _refusals(account),
            "in_shadow": ShadowPolicy.objects.filter(account=account).exists(),
            "may_change": request.user.has_perm("guardrails.change_allowedaction"),
        }
    return TemplateResponse(request, "guardrails/account.html", context)


def why_page(request: HttpRequest, context: dict[str, Any], action_id: UUID) -> HttpResponse:
    """Why one action of the ledger was decided as it was."""
    found = why(ledger.recorded(action_id))
    if found is None or not staff.may_meet(request.user, found.row.tenant_id):
        raise Http404("The ledger keeps no decision of this action.")
    row = found.row
    account = Account.objects.filter(
        organisation=row.tenant_id, pk=row.account_id or NOBODY
    ).first()
    allowed_action = (
        AllowedAction.objects.filter(pk=found.allowed_action_id).first()
        if found.allowed_action_id
        else None
    )
    context |= {
        "title": "Why was this decided so?",
        "why": found,
        "at": moment(row.occurred_at),
        "description": visible(str(row.payload.get("description", ""))),
        "account": account,
        "allowed_action": allowed_action,
        "listed_targets": AllowedActionOption.objects.filter(pk__in=found.target_ids),
        "permit": _query(account, row) if account and not found.allowed_action_id else "",
    }
    return TemplateResponse(request, "guardrails/why.html", context)


def address_of(account: Account) -> str:
    return f"{reverse('admin:guardrails_policy_explain')}?{urlencode({'account': account.pk})}"


def _line(account: Account, effective: Effective) -> Line:
    action = registry.BY_NAME[effective.action_type]
    given = {"account": account.pk, "action_type": effective.action_type}
    target = given | ({"kind": action.takes[0]} if len(action.takes) == 1 else {})
    return Line(
        effective=effective,
        takes=", ".join(kind.replace("_", " ") for kind in action.takes),
        permit_query=urlencode(given),
        target_query=urlencode(target),
    )


def _refusals(account: Account) -> list[Refusal]:
    filters = Filters(tenant_id=account.organisation_id, account_id=account.pk, status="blocked")
    return [
        Refusal(
            action_id=row.action_id,
            at=moment(row.occurred_at),
            title=visible(_title(row)),
            sentence=visible(str(row.payload.get("sentence", ""))),
        )
        for row in ledger.actions(filters=filters, limit=REFUSALS_SHOWN).rows
    ]


def _title(row: Recorded) -> str:
    action = registry.BY_NAME.get(row.action_type)
    return str(row.payload.get("description") or (action.title if action else row.action_type))


def _query(account: Account, row: Recorded) -> str:
    return urlencode({"account": account.pk, "action_type": row.action_type})

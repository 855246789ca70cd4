"""Pages about policy as a whole, beside the lists of its rows."""

from typing import Any

from django import forms
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from guardrails import explain, history, registry, selectors, simulation
from guardrails.actions.base import Action
from guardrails.admin import schema_form
from guardrails.admin.scope import choose_account, choose_organisation, uuid_or_none
from guardrails.contracts import ActionRequest, Decision
from guardrails.provenance import IN_WORDS
from integrations.contracts import AccountRef
from integrations.models import Account

PREFIX = "argument-"


def urls(site: AdminSite) -> list[URLPattern]:
    """The addresses of these pages, each for people who may see permissions."""

    def page(route: str, name: str, view: Any) -> URLPattern:
        def permitted(request: HttpRequest, **given: Any) -> HttpResponse:
            if not request.user.has_perm("guardrails.view_allowedaction"):
                raise PermissionDenied
            found: HttpResponse = view(request, site.each_context(request), **given)
            return found

        return path(route, site.admin_view(permitted), name=f"guardrails_policy_{name}")

    return [
        page("history/", "history", history_page),
        page("explain/", "explain", explain_page),
        page("simulate/", "simulate", simulate_page),
    ]


def history_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Who changed what, newest first."""
    organisations, chosen = choose_organisation(request)
    account = uuid_or_none(request.GET.get("account", ""))
    found = (
        history.history(
            organisation_id=chosen.id,
            account_id=account,
            before=uuid_or_none(request.GET.get("before", "")),
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


def explain_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """What one account's agent may do now, in words; and whether it may ever reach somebody."""
    context |= choose_account(request) | {"title": "What may this agent do?"}
    account, target = context["account"], request.GET.get("target", "").strip()
    if account:
        policy, source = selectors.policy_snapshot(account.ref()), account.source
        context |= {
            "actions": explain.effective(policy, source),
            "target": target,
            "reach": explain.may_ever(policy, source, target, now=timezone.now()) if target else (),
        }
    return TemplateResponse(request, "guardrails/explain.html", context)


def simulate_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """One action, tried without doing it: fields from its schema, no JSON."""
    context |= choose_account(request) | {"title": "Try an action"}
    account = context["account"]
    if account:
        context["actions"] = [one for one in registry.ACTIONS if one.source == account.source]
        action = registry.BY_NAME.get(request.GET.get("action", ""))
        if action and action in context["actions"]:
            form = TrialForm(action, request.POST or None)
            context |= {"action": action, "form": form}
            if form.is_valid():
                found = simulation.simulate(form.wish(account.ref()))
                context |= {"found": found, "provenance": _provenance(found.decision)}
    return TemplateResponse(request, "guardrails/simulate.html", context)


class TrialForm(forms.Form):
    """The arguments of one action, and what set it off."""

    user_words = forms.CharField(
        label="What the user typed",
        required=False,
        widget=UnfoldAdminTextareaWidget({"rows": 3}),
        help_text="Addresses and ids in these words count as typed by the user.",
    )
    email_id = forms.CharField(
        label="Inbound mail that sets it off (id)",
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="Empty: a chat asks for it.",
    )

    def __init__(self, action: Action[Any], data: Any = None) -> None:
        super().__init__(data)
        self.action = action
        self.fields = {**schema_form.fields(action.arguments, prefix=PREFIX), **self.fields}

    def wish(self, account: AccountRef) -> ActionRequest:
        """The action as it was filled in. Needs a valid form."""
        return simulation.wish(
            account,
            action_type=self.action.name,
            arguments=schema_form.values(self.action.arguments, self.cleaned_data, prefix=PREFIX),
            user_words=self.cleaned_data["user_words"],
            email_id=self.cleaned_data["email_id"],
        )


def _provenance(decision: Decision) -> list[tuple[str, str]]:
    return [(path, IN_WORDS.get(code, code)) for path, code in decision.provenance.items()]

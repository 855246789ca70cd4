"""One action, tried without doing it."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from guardrails.actions import registry
from guardrails.actions.base import AnyAction
from guardrails.admin import schema_form
from guardrails.admin.scope import choose_account
from guardrails.contracts import ActionRequest, Decision
from guardrails.decide.provenance import IN_WORDS
from guardrails.facts.targets import place_of
from guardrails.policies import simulation
from guardrails.policies.why import check_in_words
from integrations.contracts import AccountRef

PREFIX = "argument-"


def trial_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """One action, tried without doing it: fields from its schema, no JSON."""
    context |= choose_account(request) | {"title": "Try an action"}
    account = context["account"]
    if account:
        context["actions"] = [one for one in registry.ACTIONS if one.works_on(account.source)]
        action = registry.BY_NAME.get(request.GET.get("action", ""))
        if action and action in context["actions"]:
            form = TrialForm(action, request.POST or None)
            context |= {"action": action, "form": form}
            if form.is_valid():
                found = simulation.simulate(form.wish(account.ref()))
                context |= {
                    "found": found,
                    "checks": [(check_in_words(one.name), one) for one in found.decision.checks],
                    "provenance": _provenance(found.decision),
                }
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

    def __init__(self, action: AnyAction, data: Any = None) -> None:
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
    return [
        (place_of(path), IN_WORDS.get(code, code)) for path, code in decision.provenance.items()
    ]

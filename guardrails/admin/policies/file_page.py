"""A whole policy in the browser: downloaded, or put in place after its differences were shown."""

import hashlib
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextareaWidget

from guardrails.admin.policies.account_page import address_of
from guardrails.admin.policies.trial import LASTS, OF, chosen, describe
from guardrails.admin.scope import choose_account
from guardrails.decide.policy_file import PolicyFile, with_file
from guardrails.facts.text import visible
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.policies import (
    files as policy_files,
    presets,
    shadow,
    simulation,
    text as policy_text,
)
from guardrails.policies.differences import Difference
from guardrails.policies.findings import findings
from guardrails.policies.recorded_admin import author
from guardrails.policies.text import PolicyFileError
from integrations.models import Account

RIGHTS = [
    f"guardrails.{verb}_{model}"
    for verb in ("add", "change", "delete")
    for model in ("allowedaction", "allowedactionoption", "targetgroup")
]
FORMATS = {"yaml": "application/yaml", "json": "application/json"}


class PolicyTextForm(forms.Form):
    """A policy as text, from a file or pasted."""

    file = forms.FileField(
        label="Choose a file",
        required=False,
        widget=UnfoldAdminFileFieldWidget({"accept": ".yaml,.yml,.json"}),
    )
    text = forms.CharField(
        label="Or paste it here",
        required=False,
        strip=False,
        widget=UnfoldAdminTextareaWidget({"rows": 10, "spellcheck": "false"}),
        help_text="YAML or JSON. A section that is left out stays as it is.",
    )

    def clean(self) -> dict[str, Any]:
        """Exactly one text, read as a policy."""
        found = super().clean() or {}
        sent, pasted = found.get("file"), found.get("text", "")
        if bool(sent) == bool(pasted.strip()):
            raise forms.ValidationError("Choose a file or paste a text, not both.")
        if sent:
            if sent.size > policy_text.MAX_CHARS:
                raise forms.ValidationError("The file is too long.")
            try:
                pasted = sent.read().decode()
            except UnicodeDecodeError as error:
                raise forms.ValidationError("The file is not text.") from error
        return {**found, "text": pasted}


def export_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """The account's policy as a file."""
    account: Account | None = choose_account(request)["account"]
    form = request.GET.get("format", "yaml")
    if account is None or form not in FORMATS:
        raise Http404("There is no such account or format.")
    policy = policy_files.exported(account)
    text = policy_text.write(policy, form)
    name = f"policy-{account.source}-{account.pk}.{form}"
    return HttpResponse(
        text,
        content_type=f"{FORMATS[form]}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def import_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """A preset or a file: first what it would change, in words; then, at one button, it is so."""
    context |= choose_account(request) | {"title": "Policy from a preset or a file"}
    account = context["account"]
    if account is None:
        raise Http404("There is no such account.")
    context |= {
        "presets": presets.list_for(account),
        "may_apply": may_apply(request),
        "later": request.GET.get("later", "")[:300],  # a guide switches it on, not this page
        "form": PolicyTextForm(),
    }
    text = _text(request, context)
    if text:
        try:
            wanted = policy_files.whole(account, policy_text.read(text))
            found = policy_files.differences(account, wanted)
            expected = digest(found)
            draft = with_file(policy_snapshot(account.ref()), wanted, account.ref().source)
            context |= {"text": text, "differences": found, "shown": expected, "chosen": True}
            context |= {"findings": findings(draft, account.source)}
            context |= {"lasts": LASTS, "kinds_of_past": OF}
            if "_try" in request.POST:
                return _try_first(request, context, account, wanted)
            if request.POST.get("shadow"):
                return _shadow(request, account, wanted)
            if "_save" in request.POST:
                return _apply(request, context, account, wanted, expected)
        except PolicyFileError as error:
            context["problem"] = visible(str(error))
    return TemplateResponse(request, "guardrails/import.html", context)


def may_apply(request: HttpRequest) -> bool:
    return request.user.has_perms(RIGHTS)


def _text(request: HttpRequest, context: dict[str, Any]) -> str:
    """The policy that somebody chose; empty when there is none yet."""
    preset = request.GET.get("preset", "")
    if request.method != "POST":
        return presets.load(preset) if preset in presets.list_names() else ""
    if "shown" in request.POST:
        return request.POST.get("text", "")
    form = context["form"] = PolicyTextForm(request.POST, request.FILES)
    return form.cleaned_data["text"] if form.is_valid() else ""


def _apply(
    request: HttpRequest,
    context: dict[str, Any],
    account: Account,
    wanted: PolicyFile,
    expected: str,
) -> HttpResponse:
    if not may_apply(request):
        raise PermissionDenied
    if request.POST.get("shown") != expected:
        context["problem"] = "The policy changed meanwhile. Look at the differences again."
        return TemplateResponse(request, "guardrails/import.html", context)
    done = policy_files.apply(account, wanted, author=author(request))
    messages.success(request, f"{len(done)} entries changed. They are in the history of policy.")
    return redirect(_way_back(request) or address_of(account))


def _try_first(
    request: HttpRequest, context: dict[str, Any], account: Account, wanted: PolicyFile
) -> HttpResponse:
    """What the file would have changed of the past."""
    source = account.ref().source
    replay = simulation.replay(
        lambda policy: with_file(policy, wanted, source),
        organisation_id=account.organisation_id,
        account_id=account.pk,
        **chosen(request),
    )
    hidden_fields = [("text", context["text"]), ("shown", context["shown"])]
    context |= describe(replay) | {
        "what": f"The policy with {len(context['differences'])} changed entries, for {account}.",
        "kept": hidden_fields if may_apply(request) else None,
    }
    return TemplateResponse(request, "guardrails/replay.html", context)


def _shadow(request: HttpRequest, account: Account, wanted: PolicyFile) -> HttpResponse:
    if not may_apply(request):
        raise PermissionDenied
    note = request.POST.get("note", "").strip()[:300]
    shadow.start(account, wanted, note=note, author=author(request))
    if back := _way_back(request):
        messages.success(request, "Chosen. Nothing is live yet.")
        return redirect(back)
    messages.success(request, "In shadow from now on. The policy has not changed.")
    return redirect(f"{reverse('admin:guardrails_policy_shadow')}?account={account.pk}")


def _way_back(request: HttpRequest) -> str:
    """The page of ours that led here; empty where none did."""
    back = request.GET.get("next", "")
    return back if url_has_allowed_host_and_scheme(back, allowed_hosts=None) else ""


def digest(found: tuple[Difference, ...]) -> str:
    """What the person was shown, so that nothing else is applied."""
    return hashlib.sha256("\n".join(map(str, found)).encode()).hexdigest()

"""A directory in the browser: from a file or from a provider, put in place after its differences
were shown."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldBooleanSwitchWidget

from guardrails.models import Person
from guardrails.policies import directory, directory_file
from guardrails.policies.directory_file import DirectoryFileError, Entry
from guardrails.policies.recorded_admin import author
from integrations.contracts.field_types import uuid_or_none
from integrations.exceptions import ProviderError
from integrations.models import Account, Organisation
from integrations.web.admin_pages import choose_organisation

TEMPLATE = "guardrails/directory.html"
RIGHTS = [f"guardrails.{verb}_person" for verb in ("add", "change", "delete")]
MOST_ACCOUNTS = 50  # to choose from


class DirectoryForm(forms.Form):
    """A file, and whether it is all there is."""

    file = forms.FileField(
        label="Choose a file",
        widget=UnfoldAdminFileFieldWidget({"accept": ".csv,.tsv,.txt"}),
        help_text="CSV in UTF-8, the columns named in its first line: address and name, or first "
        "name and last name; other names (separated by semicolons) and kind (person or group) if "
        "you like.",
    )
    whole = forms.BooleanField(
        label="Remove who is not in the file",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="Of those who were entered or imported. Who was read from a provider stays.",
    )

    def clean_file(self) -> str:
        sent = self.cleaned_data["file"]
        if sent.size > directory_file.MOST_BYTES:
            raise forms.ValidationError(
                f"The file is longer than {directory_file.MOST_BYTES} bytes."
            )
        try:
            return directory_file.decode(sent.read())
        except DirectoryFileError as error:
            raise forms.ValidationError(list(error.problems)) from error


def directory_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """First what a file or a provider would change, in words; then, at one button, it is so."""
    organisations, organisation = choose_organisation(request)
    mailboxes = Account.objects.filter(
        organisation=organisation, paused=False, source__in=directory.sources()
    ).order_by("address")
    context |= {
        "title": "Import a directory",
        "organisations": organisations,
        "organisation": organisation,
        "mailboxes": mailboxes[:MOST_ACCOUNTS],
        "may_apply": request.user.has_perms(RIGHTS),
        "form": DirectoryForm(),
    }
    if request.method == "POST" and organisation is not None:
        try:
            answer = _read(request, context, organisation, mailboxes)
        except DirectoryFileError as error:
            context["problems"] = error.problems
        except ProviderError:
            context["problems"] = ["The provider could not be asked. Try again later."]
        except directory.DirectoryChanged:
            context["problems"] = ["The directory changed meanwhile. Look at it again."]
        else:
            if answer is not None:
                return answer
    return TemplateResponse(request, TEMPLATE, context)


def _read(
    request: HttpRequest,
    context: dict[str, Any],
    organisation: Organisation,
    mailboxes: QuerySet[Account],
) -> HttpResponse | None:
    """Shows what would change, or makes it so; None where there is nothing to show yet."""
    if key := uuid_or_none(request.POST.get("account", "")):
        mailbox = mailboxes.filter(pk=key).first()
        if mailbox is None:
            return None
        entries, left_out = directory.read_provider(mailbox.ref())
        hidden_fields = {"account": str(mailbox.pk)}
        context |= {"mailbox": mailbox, "left_out": left_out}
        return _show(
            request,
            context,
            organisation,
            entries,
            hidden_fields,
            source=Person.Source.PROVIDER,
            whole=True,
        )
    text, whole = request.POST.get("text", ""), request.POST.get("whole") == "on"
    if "shown" not in request.POST:
        form = context["form"] = DirectoryForm(request.POST, request.FILES)
        if not form.is_valid():
            return None
        text, whole = form.cleaned_data["file"], form.cleaned_data["whole"]
    entries = directory_file.parse(text)
    hidden_fields = {"text": text, "whole": "on" if whole else ""}
    return _show(
        request,
        context,
        organisation,
        entries,
        hidden_fields,
        source=Person.Source.OPERATOR,
        whole=whole,
    )


def _show(
    request: HttpRequest,
    context: dict[str, Any],
    organisation: Organisation,
    entries: Sequence[Entry],
    hidden_fields: dict[str, str],
    *,
    source: Person.Source,
    whole: bool,
) -> HttpResponse | None:
    found = directory.differences(organisation, entries, source=source, whole=whole)
    context |= {
        "chosen": True,
        "differences": found,
        "hidden_fields": hidden_fields | {"shown": directory.digest(found)},
    }
    if "_save" not in request.POST:
        return None
    if not context["may_apply"]:
        raise PermissionDenied
    done = directory.apply(
        organisation,
        entries,
        source=source,
        whole=whole,
        author=author(request),
        expected=request.POST.get("shown", ""),
    )
    messages.success(request, f"{len(done)} entries changed. They are in the history of policy.")
    return redirect(reverse("admin:guardrails_person_changelist"))

"""Connecting a mailbox in the browser: what Remit can do and prove there is shown first, and at one
button it is connected."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from integrations.accounts import connecting, health
from integrations.accounts.connecting import Wish
from integrations.admin.capabilities import GRADES
from integrations.credentials.sealing import BadKey
from integrations.exceptions import ProviderError
from integrations.models import Account, Organisation
from integrations.models.accounts import validate_time_zone
from integrations.providers.imap import discovery
from integrations.providers.imap.servers import MailServers, Security, Server, read_server
from integrations.web.admin_pages import choose_organisation, operator

TEMPLATE = "integrations/connect.html"
RIGHT = "integrations.add_account"
NO_KEY = (
    "This installation has no key to keep passwords with. `manage.py make_credential_keys` makes a "
    "pair; set CREDENTIALS_PUBLIC_KEY here."
)
SECURITY = [("", "As is usual at the port"), ("tls", "From the start"), ("starttls", "STARTTLS")]


class ConnectForm(forms.Form):
    user_id = forms.CharField(
        label="User",
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text="Whose mailbox: the user's id in your frontend.",
    )
    address = forms.CharField(label="Address", max_length=320, widget=UnfoldAdminEmailInputWidget)
    password = forms.CharField(
        max_length=1000,
        strip=False,
        widget=UnfoldAdminPasswordWidget({"autocomplete": "new-password"}),
        help_text="Most providers want an app password, made in the security settings of the "
        "account there. It is sealed: this page cannot show it again.",
    )
    display_name = forms.CharField(
        label="Name",
        max_length=200,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="As it stands beside the address in mail.",
    )
    time_zone = forms.CharField(
        max_length=64,
        initial="UTC",
        widget=UnfoldAdminTextInputWidget,
        validators=[validate_time_zone],
        help_text="A name such as Europe/Stockholm.",
    )
    user_name = forms.CharField(
        max_length=320,
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text="At the server, where it is not the address.",
    )
    imap = forms.CharField(
        label="Mail server (IMAP)",
        max_length=260,
        required=False,
        widget=UnfoldAdminTextInputWidget({"placeholder": "imap.example.org:993"}),
        help_text="Empty: found by the address.",
    )
    imap_security = forms.ChoiceField(
        label="Its encryption",
        choices=SECURITY,
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    smtp = forms.CharField(
        label="Server to send with (SMTP)",
        max_length=260,
        required=False,
        widget=UnfoldAdminTextInputWidget({"placeholder": "smtp.example.org:465"}),
        help_text="Only beside a mail server; empty: mail is read and not sent.",
    )
    smtp_security = forms.ChoiceField(
        label="Its encryption",
        choices=SECURITY,
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    BASIC = ("user_id", "address", "password", "display_name", "time_zone")

    def basic(self) -> list[forms.BoundField]:
        return [self[name] for name in self.BASIC]

    def servers(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name not in self.BASIC]

    def are_servers_named(self) -> bool:
        return any(one.data or one.errors for one in self.servers())

    def clean_imap(self) -> Server | None:
        return self._server("imap", 993)

    def clean_smtp(self) -> Server | None:
        return self._server("smtp", 465)

    def _server(self, name: str, usual_port: int) -> Server | None:
        text: str = self.cleaned_data[name]
        wanted = self.data.get(f"{name}_security")
        security: Security | None = wanted if wanted in ("tls", "starttls") else None
        try:
            found = read_server(text, usual_port=usual_port, security=security) if text else None
        except ValueError as error:
            raise ValidationError(str(error)) from error
        return found

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("smtp") and not given.get("imap"):
            self.add_error("imap", "Name the mail server, too.")
        return given

    def wish(self, organisation: Organisation) -> Wish:
        given = self.cleaned_data
        return Wish(
            organisation_id=organisation.id,
            user_id=given["user_id"],
            address=given["address"],
            user_name=given["user_name"] or given["address"],
            display_name=given["display_name"],
            time_zone=given["time_zone"],
        )


@sensitive_post_parameters("password", "offer")
def connect_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """First a trial, and what it found; then, at one button, the mailbox is connected."""
    if not request.user.has_perm(RIGHT):
        raise PermissionDenied
    organisations, organisation = choose_organisation(request)
    known = _known(request, organisation)
    context |= {
        "title": "Connect a mailbox",
        "organisations": organisations,
        "organisation": organisation,
        "known": known,
        "form": ConnectForm(initial=_initial(known)),
        "grades": GRADES,
    }
    if request.method == "POST" and organisation is not None:
        try:
            if "offer" in request.POST:
                return _accept(request, organisation)
            _try(request, context, organisation)
        except ProviderError as error:
            context["problems"] = [str(error)]
        except BadKey:
            context["problems"] = [NO_KEY]
        except ValidationError as error:
            context["problems"] = error.messages
    return TemplateResponse(request, TEMPLATE, context)


def _try(request: HttpRequest, context: dict[str, Any], organisation: Organisation) -> None:
    form = context["form"] = ConnectForm(request.POST)
    if not form.is_valid():
        return
    given, wish = form.cleaned_data, form.wish(organisation)
    connecting.check(wish)
    named = (MailServers(imap=given["imap"], smtp=given["smtp"]),) if given["imap"] else ()
    candidates = named or discovery.find_servers(wish.address)
    secret = given["password"]
    tried = connecting.try_mailbox(candidates, user_name=wish.user_name, secret=secret)
    offer = connecting.make_offer(wish, tried.servers.to_json(), secret=secret)
    context |= {
        "tried": tried,
        "wish": wish,
        "offer": connecting.to_text(offer, by=_name(request, organisation)),
    }


def _accept(request: HttpRequest, organisation: Organisation) -> HttpResponse:
    by = _name(request, organisation)
    account = connecting.accept(connecting.from_text(request.POST["offer"], by=by))
    messages.success(
        request,
        f"{account.address} is connected. It is read alone until you say below what its agent may "
        "do.",
    )
    return redirect(f"{reverse('admin:guardrails_policy_explain')}?account={account.pk}")


def _name(request: HttpRequest, organisation: Organisation) -> str:
    """Who may accept an offer."""
    return f"{organisation.id} {operator(request)}"


def _known(request: HttpRequest, organisation: Organisation | None) -> Account | None:
    """The account that is to be signed in again, if the address names one."""
    rows = Account.objects.filter(organisation=organisation, source=connecting.SOURCE)
    try:
        return rows.filter(pk=UUID(request.GET.get("account", ""))).first()
    except ValueError:
        return None


def _initial(known: Account | None) -> dict[str, Any]:
    if known is None:
        return {}
    return {
        "user_id": known.external_user_id,
        "address": known.address,
        "display_name": known.display_name,
        "time_zone": known.time_zone,
    }


def describe_connection(account: Account) -> dict[str, Any]:
    """What an account's own page says of how it is connected."""
    if account.source != connecting.SOURCE:
        return {}
    return {
        "connection": health.in_words(account, now=timezone.now()),
        "is_connected": health.state_of(account) != "not_connected",
        "account": account,
    }

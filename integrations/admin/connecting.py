"""Connecting a mailbox, calendars, contacts, files or issues in the browser: what Remit can do and
prove there is shown first, and at one button they are connected."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from integrations.accounts import connectables, connecting, consent, health, trials
from integrations.accounts.connecting import Wish
from integrations.admin.capabilities import GRADES
from integrations.admin.connect_forms import ConnectForm
from integrations.contracts import Source
from integrations.credentials.sealing import BadKey
from integrations.exceptions import ProviderError
from integrations.models import Account, Organisation
from integrations.ports.registry import BY_SOURCE
from integrations.web import pushes, staff
from integrations.web.admin_pages import choose_organisation, operator

TEMPLATE = "integrations/connect.html"
SIGNED_IN = "admin:integrations_account_signed_in"
IN_SESSION = "integrations.consent"  # the ticket of the one sign-in that is under way
RIGHT = "integrations.add_account"
NO_KEY = (
    "This installation has no key to keep passwords with. `manage.py make_credential_keys` makes a "
    "pair; set CREDENTIALS_PUBLIC_KEY here."
)
KNOWN_USERS = 500  # offered; any other can be typed


@sensitive_post_parameters("password", "offer")
def connect_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """First a trial, and what it found; then, at one button, the account is connected."""
    if not request.user.has_perm(RIGHT):
        raise PermissionDenied
    organisations, organisation = choose_organisation(request)
    known = _known(request, organisation)
    source = _source(request, known)
    context |= {
        "title": connectables.of(source).title,
        "titles": _titles(),
        "connectable": connectables.of(source),
        "about": _about(source, organisation),
        "source": source,
        "organisations": organisations,
        "organisation": organisation,
        "known": known,
        "users": _users(organisation),
        "form": ConnectForm(source, initial=_initial(request, known)),
        "place": consent.place_of(source),
        "grades": GRADES,
    }
    if request.method == "POST" and organisation is not None:
        with _problems(context):
            if "offer" in request.POST:
                return _accept(request, organisation)
            _try(request, context, organisation)
    return TemplateResponse(request, TEMPLATE, context)


def signed_in_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Where somebody comes back to from the page of their provider. What they bring is good once,
    and in the session that went there alone."""
    if not request.user.has_perm(RIGHT):
        raise PermissionDenied
    stored = request.session.pop(IN_SESSION, {"ticket": "", "organisation": ""})
    organisation = staff.find_organisation(request.user, stored["organisation"])
    source = next(iter(consent.PLACES))
    context |= {"grades": GRADES, "organisation": organisation, "source": source}
    if organisation is not None:
        with _problems(context):
            _finish(request, context, organisation, stored["ticket"])
    title = connectables.of(context["source"]).title
    return TemplateResponse(request, TEMPLATE, context | {"title": title})


@contextmanager
def _problems(context: dict[str, Any]) -> Iterator[None]:
    """What goes wrong stands on the page."""
    try:
        yield
    except ProviderError as error:
        context["problems"] = [str(error)]
    except BadKey:
        context["problems"] = [NO_KEY]
    except ValidationError as error:
        context["problems"] = error.messages


def _try(request: HttpRequest, context: dict[str, Any], organisation: Organisation) -> None:
    form = context["form"] = ConnectForm(context["source"], request.POST)
    if not form.is_valid():
        return
    wish = form.wish(organisation)
    if wish.source in consent.PLACES:
        _begin(request, context, organisation, wish)
        return
    connecting.check(wish)
    found = trials.try_it(wish.source, form.given())
    offer = connecting.make_offer(wish, found.servers, secret=form.cleaned_data["password"])
    context |= {
        "found": found,
        "wish": wish,
        "is_new_user": wish.user_id not in context["users"],
        "offer": connecting.to_text(offer, by=_name(request, organisation)),
    }


def _begin(
    request: HttpRequest, context: dict[str, Any], organisation: Organisation, wish: Wish
) -> None:
    redirect = f"{settings.PUBLIC_URL or request.build_absolute_uri('/')[:-1]}{reverse(SIGNED_IN)}"
    started = consent.begin(wish, by=_name(request, organisation), redirect=redirect)
    request.session[IN_SESSION] = {"ticket": started.ticket, "organisation": organisation.slug}
    context |= {"page": started.page, "wish": wish}


def _finish(
    request: HttpRequest, context: dict[str, Any], organisation: Organisation, ticket: str
) -> None:
    context["source"] = consent.wish_of(ticket).source
    by = _name(request, organisation)
    finished = consent.finish(ticket, request.GET.dict(), by=by)
    context |= {
        "found": finished.found,
        "wish": finished.wish,
        "is_new_user": finished.wish.user_id not in _users(organisation),
        "offer": connecting.to_text(finished.offer, by=by),
    }


def _accept(request: HttpRequest, organisation: Organisation) -> HttpResponse:
    by = _name(request, organisation)
    account = connecting.accept(connecting.from_text(request.POST["offer"], by=by))
    messages.success(
        request,
        f"{account.address} is connected. It is read alone until you say below what its agent may "
        "do."
        if BY_SOURCE[account.source].is_writable
        else f"{account.address} is connected. It is read alone.",
    )
    return redirect(f"{reverse('admin:guardrails_policy_explain')}?account={account.pk}")


def _name(request: HttpRequest, organisation: Organisation) -> str:
    """Who may accept an offer."""
    return f"{organisation.id} {operator(request)}"


def _source(request: HttpRequest, known: Account | None) -> Source:
    """What is to be connected: as the account that is known, or as the address says."""
    wanted = known.source if known else request.GET.get("source", "")
    return wanted if wanted in connectables.ALL else connecting.SOURCE


def _known(request: HttpRequest, organisation: Organisation | None) -> Account | None:
    """The account that is to be signed in again, if the address names one."""
    rows = Account.objects.filter(organisation=organisation, source__in=connectables.ALL)
    try:
        return rows.filter(pk=UUID(request.GET.get("account", ""))).first()
    except ValueError:
        return None


def _about(source: Source, organisation: Organisation | None) -> str:
    name = organisation.name if organisation else ""
    return connectables.of(source).about.format(organisation=name)


def _titles() -> dict[Source, str]:
    return {source: one.title for source, one in connectables.ALL.items()}


def _users(organisation: Organisation | None) -> dict[str, str]:
    """Users whom the organisation has accounts of, each with a name or an address."""
    rows = Account.objects.filter(organisation=organisation).order_by("external_user_id", "id")
    found: dict[str, str] = {}
    for id, name, address in rows.values_list("external_user_id", "display_name", "address"):
        if id not in found and len(found) == KNOWN_USERS:
            break
        found[id] = found.get(id) or name or address
    return found


def _initial(request: HttpRequest, known: Account | None) -> dict[str, Any]:
    if known is None:
        return {"user_id": request.GET.get("user", "")}
    return {
        "user_id": known.external_user_id,
        "address": known.address,
        "display_name": known.display_name,
        "time_zone": known.time_zone,
    }


def describe_connection(account: Account) -> dict[str, Any]:
    """What an account's own page says of how it is connected."""
    if account.source not in connectables.ALL:
        return {}
    return {
        "connection": health.in_words(account, now=timezone.now()),
        "is_connected": health.state_of(account) != "not_connected",
        "account": account,
        "push": _push(account) if _is_set_up_there(account) else None,
        "caller": connectables.of(account.source).calls,
        "has_token": account.kind == "issues",
        "place": consent.place_of(account.source),
    }


def _is_set_up_there(account: Account) -> bool:
    connector = BY_SOURCE[account.source]
    return connector.news == "pushed" and not connector.subscribes


def _push(account: Account) -> dict[str, str]:
    """Where its tracker may say that something has changed, and what it signs that with."""
    path = reverse("push", args=[account.pk])
    return {"url": f"{settings.PUBLIC_URL}{path}", "secret": pushes.secret_of(account.pk)}

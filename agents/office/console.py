"""The chat console: where an operator tries Remit out as one of its users.

It speaks to the same API as every frontend. Letting a scripted mail arrive is no provider
write of an agent: it is the demo's other side, and there only while that is the sandbox.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from agents.models import Turn
from agents.office import sandbox
from agents.office.turn_page import turn_link
from integrations.exceptions import NotFound, ProviderError
from integrations.models import Account, Delivery, Organisation, ServiceToken
from integrations.network import strict_json
from integrations.ports.registry import writable
from integrations.web import staff
from integrations.web.admin_pages import choose_organisation
from integrations.web.authentication import OWN_CONSOLE, RIGHTS

USERS_SHOWN = 500
UNFINISHED = (Delivery.State.QUEUED, Delivery.State.RUNNING)
R = TypeVar("R", bound=Model)
View = Callable[[HttpRequest], HttpResponseBase]


USE = "agents.use_console"


def may_use(user: Any) -> bool:
    """As any user of the organisation, or as the one that they are themself."""
    return bool(user.is_staff and (user.has_perm(USE) or user.has_perm(OWN_CONSOLE)))


def _own(request: HttpRequest, organisation: Organisation) -> str | None:
    """As whom alone somebody may act there. Empty: as all; None: as nobody."""
    own = staff.own_user_id(request.user, organisation.id)
    return own if own or request.user.has_perm(USE) else None


def _may_decide(request: HttpRequest, own: str) -> bool:
    """Whether their session has the scope for what is suggested to people."""
    may = request.user.has_perm(RIGHTS[ServiceToken.Scope.APPROVALS])
    return may or bool(own and request.user.has_perm(OWN_CONSOLE))


def for_operators(view: View) -> View:
    """Only for staff who have the right to; who is not logged in is asked to."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if not may_use(request.user):
            return render(request, "console/refused.html", status=403)
        return view(request)

    return guarded


@require_GET
@never_cache
@for_operators
def page(request: HttpRequest) -> HttpResponse:
    """The console of one organisation, `?organisation=` or the first."""
    organisations, chosen = choose_organisation(request, limit=USERS_SHOWN)
    own = _own(request, chosen) if chosen else ""
    if own is None:
        return render(request, "console/refused.html", status=403)
    accounts = Account.objects.filter(organisation=chosen).order_by("external_user_id", "source")
    if own:
        accounts = accounts.filter(external_user_id=own)
    names = dict(accounts.values_list("external_user_id", "display_name").distinct()[:USERS_SHOWN])
    return render(
        request,
        "console/console.html",
        {
            "organisations": organisations,
            "organisation": chosen,
            "users": sorted(names.items()),
            "model_is_offline": settings.MODEL_IS_OFFLINE,
            "is_own": bool(own),
            "may_decide": _may_decide(request, own),
            "item_url": reverse("admin:knowledge_item_change", args=[":id"]),
            **(_scripted_mails(chosen) if not own else {"is_sandbox": False}),
        },
    )


def _scripted_mails(organisation: Organisation | None) -> dict[str, Any]:
    if organisation is None or not sandbox.is_sandbox(organisation.slug):
        return {"is_sandbox": False}
    try:
        return {"is_sandbox": True, "scripted": sandbox.scripted_mails(organisation.slug)}
    except ProviderError:
        return {"is_sandbox": True, "sandbox_is_away": True}


@require_POST
@for_operators
def deliver(request: HttpRequest) -> HttpResponse:
    """`{"organisation", "user_id", "name"}`: let one scripted mail arrive in the sandbox."""
    try:
        wish = strict_json.load_object(request.body)
    except ValueError as error:
        return refusal(400, "invalid_json", f"The body is not a valid JSON object: {error}.")
    fields = [wish.get(key) for key in ("organisation", "user_id", "name")]
    slug, user, name = (value if isinstance(value, str) else "" for value in fields)
    mailbox = Account.objects.filter(external_user_id=user, source__in=writable("mail"))
    mailbox = _of_organisation(request, mailbox, slug)
    if not mailbox.exists() or not name:
        return refusal(404, "unknown_user", "There is no such user with a mailbox.")
    if not sandbox.is_sandbox(slug):
        return refusal(409, "no_sandbox", "Mails can only be made up in the sandbox.")
    try:
        email = sandbox.deliver(slug, external_user_id=user, name=name)
    except NotFound:
        return refusal(404, "unknown_mail", "The sandbox has no such mail or user.")
    except ProviderError as error:
        return refusal(502, error.code, f"The sandbox did not deliver the mail: {error}.")
    return JsonResponse({"source_id": email["id"], "subject": email["subject"]}, status=201)


@require_GET
@never_cache
@for_operators
def delivered(request: HttpRequest) -> HttpResponse:
    """`?organisation=&source_id=`: what became of a mail, with links to look closer."""
    delivery = (
        _of_organisation(request, Delivery.objects.all(), request.GET.get("organisation", ""))
        .filter(
            account__external_user_id=request.GET.get("user_id", ""),
            account__source__in=writable("mail"),
            source_id=request.GET.get("source_id", ""),
            kind="created",
        )
        .order_by("received_at")
        .first()
    )
    if delivery is None:
        return JsonResponse({"state": "on its way", "finished": False, "links": []})
    turn = Turn.objects.filter(delivery=delivery).first()
    links = [("Delivery", reverse("admin:integrations_delivery_change", args=[delivery.id]))]
    if turn:
        ledger = reverse("admin:audit_executedagentaction_changelist")
        links += [("Turn", turn_link(turn.id)), ("Ledger", f"{ledger}?run_id={turn.id}")]
    return JsonResponse(
        {
            "state": delivery.get_state_display().lower(),
            "finished": delivery.state not in UNFINISHED,
            "reason": delivery.reason.replace("_", " "),
            "actions": [
                {key: action.get(key) for key in ("description", "type", "status", "sentence")}
                for action in (turn.actions if turn else [])
            ],
            "links": [{"title": title, "url": url} for title, url in links],
        }
    )


def _of_organisation(request: HttpRequest, rows: "QuerySet[R]", slug: str) -> "QuerySet[R]":
    """Those of the organisation of this name, if the person meets it and works for all there."""
    organisation = staff.find_organisation(request.user, slug) if "\0" not in slug else None
    if organisation is None or _own(request, organisation) != "":
        return rows.none()
    return rows.filter(organisation=organisation)


def refusal(status: int, code: str, sentence: str) -> JsonResponse:
    return JsonResponse({"error": {"code": code, "message": sentence}}, status=status)


urlpatterns: list[URLPattern] = [
    path("", page, name="console"),
    path("deliver", deliver, name="console-deliver"),
    path("delivered", delivered, name="console-delivered"),
]

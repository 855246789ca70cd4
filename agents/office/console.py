"""The chat console: where an operator tries Remit out as one of its users.

It speaks to the same API as every frontend. Letting a scripted mail arrive is no provider
write of an agent: it is the demo's other side, and there only while that is the sandbox.
"""

from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from agents.answer import records
from agents.models import Turn
from agents.office import (
    approvals_page,
    drafts_page,
    item_page,
    patterns_page,
    sandbox,
    you_page,
)
from agents.office.console_access import (
    Chosen,
    choose_user,
    for_operators,
    has_scope,
    own_user,
    speaking_to,
)
from agents.office.turn_page import turn_link
from integrations.exceptions import NotFound, ProviderError
from integrations.models import Account, Delivery, Organisation, ServiceToken
from integrations.network import strict_json
from integrations.ports.registry import writable
from integrations.web import staff

UNFINISHED = (Delivery.State.QUEUED, Delivery.State.RUNNING)
R = TypeVar("R", bound=Model)


@require_GET
@never_cache
@for_operators
def page(request: HttpRequest) -> HttpResponse:
    """The console of one organisation, `?organisation=` or the first."""
    chosen = choose_user(request)
    with speaking_to(request, chosen.organisation, chosen.user_id, zone=chosen.zone):
        return _show(request, chosen)


def _show(request: HttpRequest, chosen: Chosen) -> HttpResponse:
    may_decide = has_scope(request.user, ServiceToken.Scope.APPROVALS, is_own=chosen.is_own)
    item = reverse("console-item", args=[UUID(int=0)])
    mails = {"is_sandbox": False} if chosen.is_own else _scripted_mails(chosen.organisation)
    return render(
        request,
        "console/console.html",
        chosen.context
        | mails
        | {
            "model_is_offline": settings.MODEL_IS_OFFLINE,
            "may_decide": may_decide,
            "here": "console",
            "item_url": item.replace(str(UUID(int=0)), ":id"),
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
        return JsonResponse({"state": gettext("on its way"), "finished": False, "links": []})
    turn = Turn.objects.filter(delivery=delivery).first()
    links = [
        (gettext("Delivery"), reverse("admin:integrations_delivery_change", args=[delivery.id]))
    ]
    if turn:
        ledger = reverse("admin:audit_executedagentaction_changelist")
        links += [
            (gettext("Turn"), turn_link(turn.id)),
            (gettext("Ledger"), f"{ledger}?run_id={turn.id}"),
        ]
    return JsonResponse(
        {
            "state": gettext(delivery.get_state_display().lower()),
            "finished": delivery.state not in UNFINISHED,
            "reason": delivery.reason.replace("_", " "),
            "actions": [
                {
                    "description": records.describe(action),
                    "status": gettext(records.STATUS_WORDS.get(action["status"], action["status"])),
                    "sentence": records.sentence_of(action),
                }
                for action in (turn.actions if turn else [])
            ],
            "links": [{"title": title, "url": url} for title, url in links],
        }
    )


def _of_organisation(request: HttpRequest, rows: "QuerySet[R]", slug: str) -> "QuerySet[R]":
    """Those of the organisation of this name, if the person meets it and works for all there."""
    organisation = staff.find_organisation(request.user, slug) if "\0" not in slug else None
    if organisation is None or own_user(request.user, organisation) != "":
        return rows.none()
    return rows.filter(organisation=organisation)


def refusal(status: int, code: str, sentence: str) -> JsonResponse:
    return JsonResponse({"error": {"code": code, "message": sentence}}, status=status)


urlpatterns: list[URLPattern] = [
    path("", page, name="console"),
    path("deliver", deliver, name="console-deliver"),
    path("delivered", delivered, name="console-delivered"),
    path("approvals", approvals_page.page, name="console-approvals"),
    path("patterns", patterns_page.page, name="console-patterns"),
    path("drafts", drafts_page.page, name="console-drafts"),
    path("you", you_page.page, name="console-you"),
    path("you/log-out", you_page.log_out, name="console-you-log-out"),
    path("items/<uuid:item_id>", item_page.page, name="console-item"),
    path("items/<uuid:item_id>/sender", item_page.name_sender, name="console-item-sender"),
]

"""One item that was read, for the person whose it is, opened where an answer cites it."""

from contextlib import suppress
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from agents.answer import passages
from agents.models import Message, ToolCall, Turn
from agents.office.console_access import for_operators, own_user, speaking_to
from guardrails.approve.speaking import moment
from guardrails.facts.targets import address_or_none
from guardrails.facts.text import visible
from integrations.accounts import contacts
from integrations.web import staff
from knowledge.models import Item

LONGEST = 200_000  # characters of a text that a page holds
CALLS = 200  # of a conversation, the newest, in which the passage is looked for


@require_GET
@never_cache
@for_operators
def page(request: HttpRequest, item_id: UUID) -> HttpResponse:
    """`?turn=&n=`: the answer that cites it, and under which number. Who may not read it
    hears what is said of one that there is not."""
    item = _find_item(request, item_id)
    of, user_id = item.account, item.account.external_user_id
    with speaking_to(request, of.organisation, user_id, zone=of.time_zone) as zone:
        return _show(request, item, zone)


def _show(request: HttpRequest, item: Item, zone: str) -> HttpResponse:
    text = item.text[:LONGEST]
    span = None
    if cites := _find_turn(request, item):
        span = _find_span(cites, item, text, request.GET.get("n", ""))
    start, end = span or (0, 0)
    account = item.account
    whose = {"organisation": account.organisation.slug, "user": account.external_user_id}
    return render(
        request,
        "console/item.html",
        {
            "item": item,
            "source": gettext(item.get_source_display()),
            "title": visible(item.title) or gettext("Untitled"),
            "sender": visible(item.sender_name or item.sender_address),
            "at": moment(item.occurred_at, zone),
            "is_gone": item.deleted_at is not None,
            "before": visible(text[:start]),
            "passage": visible(text[start:end]),
            "after": visible(text[end:]),
            "is_cut": len(item.text) > LONGEST,
            "is_cited": cites is not None,
            "query": f"?{urlencode(whose)}",
            "is_own": bool(own_user(request.user, item.account.organisation)),
            "address": _sender_of(item),
            "is_known": contacts.has_named(*_whose(item), _sender_of(item)),
        },
    )


@require_POST
@for_operators
def name_sender(request: HttpRequest, item_id: UUID) -> HttpResponse:
    """`known=1`: the user's word that the mail's sender is no stranger; else that is taken back."""
    item = _find_item(request, item_id)
    if address := _sender_of(item):
        with suppress(ValidationError):  # too many: the page says what holds
            known = request.POST.get("known") == "1"
            contacts.name_known(*_whose(item), address, known=known)
    return redirect("console-item", item_id)


def _find_item(request: HttpRequest, item_id: UUID) -> Item:
    """Raises Http404 where there is none that this person may read."""
    rows = Item.objects.select_related("account__organisation").defer("search", "identifiers")
    item = staff.bind(rows, request.user, "account__organisation").filter(id=item_id).first()
    if item is None or not _may_read(request.user, item):
        raise Http404("There is no such item.")
    return item


def _whose(item: Item) -> tuple[UUID, str]:
    return item.account.organisation_id, item.account.external_user_id


def _sender_of(item: Item) -> str:
    """Of a mail that somebody else wrote, whose address is plain; else nobody's."""
    is_mail = item.account.kind == "mail" and item.deleted_at is None
    own = item.account.address.casefold()
    address = address_or_none(item.sender_address) if is_mail else None
    return address if address and address.casefold() != own else ""


def _may_read(user: Any, item: Item) -> bool:
    own = own_user(user, item.account.organisation)
    return own is not None and own in ("", item.account.external_user_id)


def _find_turn(request: HttpRequest, item: Item) -> Turn | None:
    """The turn that the address names, if it is the same user's."""
    try:
        turn_id = UUID(request.GET.get("turn", ""))
    except ValueError:
        return None
    account = item.account
    return Turn.objects.filter(
        id=turn_id,
        organisation_id=account.organisation_id,
        external_user_id=account.external_user_id,
    ).first()


def _find_span(turn: Turn, item: Item, text: str, number: str) -> passages.Span | None:
    """An earlier turn of the conversation may have looked at it."""
    calls = ToolCall.objects.filter(
        result__isnull=False, created_at__lte=turn.finished_at or turn.created_at
    )
    of = {"turn__conversation": turn.conversation_id} if turn.conversation_id else {"turn": turn}
    results = calls.filter(**of).order_by("-created_at").values_list("result", flat=True)[:CALLS]
    observed = [
        one
        for result in results
        for one in passages.list_observed((result or {}).get("data"), str(item.id))
    ]
    answer = Message.objects.filter(turn=turn, role=Message.Role.ASSISTANT).first()
    n = int(number) if number.isascii() and number.isdigit() and len(number) < 4 else 0
    claim = passages.find_claim(answer.content, n) if answer else ""
    return passages.find_passage(text, dict.fromkeys(observed), claim)

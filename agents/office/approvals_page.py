"""What waits for a user's word: each card as lines, with its buttons. The API decides
(`approval-decide`)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from agents.office.behind import Behind, load_behind
from agents.office.console_access import (
    Chosen,
    choose_user,
    for_operators,
    has_scope,
    speaking_to,
)
from guardrails.approve import approvals, card_text, second_yes
from guardrails.approve.cards import list_cards
from guardrails.approve.news import devices
from guardrails.contracts.cards import ApprovalCard
from guardrails.models import Approval
from integrations.models import ServiceToken
from integrations.web.admin_pages import operator

MOST = 50
WORDS = (("confirm", gettext_noop("Confirm")), ("reject", gettext_noop("Reject")))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A card as lines. `bound` is what a word on it names: exactly what was shown."""

    id: UUID
    heading: str
    lines: tuple[str, ...]
    handled: str
    delegated: str
    not_yours: str
    words: tuple[tuple[str, str], ...]
    bound: str
    url: str
    behind: Behind | None


@require_GET
@never_cache
@for_operators
def page(request: HttpRequest) -> HttpResponse:
    """`?organisation=&user=&card=&before=`: the card that is named first, then what waits; `before`
    gives what is older than that one."""
    chosen = choose_user(request)
    with speaking_to(request, chosen.organisation, chosen.user_id, zone=chosen.zone):
        return _show(request, chosen)


def _show(request: HttpRequest, chosen: Chosen) -> HttpResponse:
    by = f"user:{chosen.user_id}" if chosen.is_own else operator(request)
    before = _id(request.GET.get("before", ""))
    found = list(_cards(chosen, None if before else _id(request.GET.get("card", "")), before))
    older = ""
    if len(found) > MOST:
        found = found[:MOST]
        query = {"organisation": chosen.context["organisation"].slug, "user": chosen.user_id}
        older = f"?{urlencode(query | {'before': found[-1].id})}"
    cards = second_yes.seen_by(found, by, chosen.user_id)
    may_decide = has_scope(request.user, ServiceToken.Scope.APPROVALS, is_own=chosen.is_own)
    behind: dict[UUID, Behind] = {}
    if may_decide and cards:
        approvals.note_shown(cards)
        met = Approval.objects.filter(organisation=chosen.organisation)
        behind = load_behind(met.for_user(chosen.user_id), [card.id for card in cards])
    return render(
        request,
        "console/approvals.html",
        chosen.context
        | devices.offer(request.user)
        | {
            "here": "console-approvals",
            "cards": [_describe(card, behind.get(card.id)) for card in cards],
            "may_decide": may_decide,
            "older": older,
            "waits": _count(chosen) if older or before else "",
        },
    )


def _cards(chosen: Chosen, named: UUID | None, before: UUID | None) -> Iterator[ApprovalCard]:
    """One more than a page has, where there is more."""
    if chosen.organisation is None or not chosen.user_id:
        return
    find = partial(
        list_cards, organisation_id=chosen.organisation.id, external_user_id=chosen.user_id
    )
    yield from (first := find(ids=[named]) if named else ())
    known = {card.id for card in first}
    waiting = find(state="pending", before=before, limit=MOST + 1)
    yield from (card for card in waiting if card.id not in known)


def _count(chosen: Chosen) -> str:
    rows = Approval.objects.filter(
        organisation=chosen.organisation, state=Approval.State.PENDING
    ).for_user(chosen.user_id)
    return gettext("Waiting for you: %(number)d.") % {"number": rows.count()}


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _describe(card: ApprovalCard, behind: Behind | None) -> Asked:
    heading, *lines = card_text.lines(card)
    words = WORDS if card.state == "pending" else ()
    return Asked(
        id=card.id,
        heading=heading,
        lines=tuple(lines),
        handled=card.handled,
        delegated=card.delegated,
        not_yours=card.not_yours,
        words=tuple(
            (word, gettext(label))
            for word, label in words
            if word != "confirm" or not card.not_yours
        ),
        bound=json.dumps({"digest": card.digest}),
        url=reverse("approval-decide", args=[card.id]),
        behind=behind,
    )

"""The drafts that Remit wrote for a user: new mail and answers, and what became of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from agents.office.console_access import (
    Chosen,
    choose_user,
    for_operators,
    list_items,
    speaking_to,
)
from guardrails.approve.speaking import fill, moment
from guardrails.facts.text import visible
from guardrails.models import AssistantDraft

PER_PAGE = 20
State = AssistantDraft.State
NOT_SENT = gettext_noop("Not sent yet")
UNREAD = gettext_noop("a mail that Remit has not read")
NEARNESS = gettext_noop("%(share)s of the mail that was sent is as Remit had drafted it.")
KINDS = {State.PENDING: "pending", State.SENT: "done", State.EDITED: "done"}


@dataclass(frozen=True, kw_only=True)
class DraftCard:
    """`mail` and `answer` are the subject and the page of the mail that it answers (None: it is a
    new mail), and of the one that was sent instead or from it; the page is empty where Remit has
    not read it."""

    state: str
    kind: str
    written: str
    receivers: str
    mail: tuple[str, str] | None
    answer: tuple[str, str] | None
    nearness: str
    asked_for: bool
    ledger: str


@require_GET
@never_cache
@for_operators
def page(request: HttpRequest) -> HttpResponse:
    """`?organisation=&user=&page=`. Seven queries, however many there are."""
    chosen = choose_user(request)
    with speaking_to(request, chosen.organisation, chosen.user_id, zone=chosen.zone) as zone:
        return _show(request, chosen, zone)


def _show(request: HttpRequest, chosen: Chosen, zone: str) -> HttpResponse:
    drafts = AssistantDraft.objects.filter(account_id__in=chosen.account_ids)
    found = Paginator(drafts.order_by("-written_at", "action_id"), PER_PAGE).get_page(
        request.GET.get("page")
    )
    rows = list(found)
    mails = list_items(
        (row.account_id, id) for row in rows for id in (row.reply_to_id, row.answer_id) if id
    )
    ledger = ""
    if request.user.has_perm("audit.view_executedagentaction"):
        ledger = reverse("admin:audit_executedagentaction_changelist")
    return render(
        request,
        "console/drafts.html",
        chosen.context
        | {
            "here": "console-drafts",
            "page": found,
            "cards": [_describe(row, mails, ledger, zone) for row in rows],
        },
    )


def _describe(
    row: AssistantDraft, mails: Mapping[Any, tuple[str, str]], ledger: str, zone: str
) -> DraftCard:
    unread = (gettext(UNREAD), "")
    nearness = ""
    if row.nearness is not None:
        nearness = fill(NEARNESS, share=f"{row.nearness:.0%}")
    return DraftCard(
        state=gettext(NOT_SENT if row.state == State.PENDING else row.get_state_display()),
        kind=KINDS.get(State(row.state), "handled"),
        written=moment(row.written_at, zone),
        receivers=", ".join(map(visible, row.receivers)),
        mail=mails.get((row.account_id, row.reply_to_id), unread) if row.reply_to_id else None,
        answer=mails.get((row.account_id, row.answer_id), unread) if row.answer_id else None,
        nearness=nearness,
        asked_for=not row.of_own_accord,
        ledger=f"{ledger}?{urlencode({'q': row.action_id})}" if ledger else "",
    )

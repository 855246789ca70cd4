"""What Remit learned of a user's recurring mail, for that user: in words, with what speaks for it,
and a button for each word that they have in it. The API decides (`pattern-decide`)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import Case, Count, Prefetch, Q, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from agents.office.console_access import (
    NO_SUBJECT,
    Chosen,
    choose_user,
    for_operators,
    has_scope,
    list_items,
    speaking_to,
)
from guardrails.approve.cards import title_of
from guardrails.approve.speaking import fill, moment
from guardrails.facts.text import visible
from guardrails.learn import evidence, in_words
from guardrails.models import LearnedPattern, PatternEvidence, PatternHit
from integrations.models import ServiceToken

PER_PAGE = 20
LATELY = 5
State, Side = LearnedPattern.State, PatternEvidence.Side
COUNTS = {side.value: Count("evidence", filter=Q(evidence__side=side)) for side in Side}
WAITING_FIRST = Case(When(state=State.PROPOSED, then=Value(0)), default=Value(1))
WORDS = {
    State.PROPOSED: (("approve", gettext_noop("Approve")), ("decline", gettext_noop("Decline"))),
    State.APPROVED: (("suspend", gettext_noop("Stop")),),
    State.SUSPENDED: (("approve", gettext_noop("Let it act again")),),
}
UNTRIED = gettext_noop(
    "It is tried on your past mail within a minute. Until then nobody can approve it."
)
FITS_NONE = gettext_noop("It fits none of your newest %(mails)d mails.")
FITS = gettext_noop(
    "Of your newest %(mails)d mails it fits %(fits)d: %(agrees)d treated just like that, "
    "%(otherwise)d treated otherwise, %(open)d not looked at yet."
)
SHARE = gettext_noop("That is %(share)s of what was decided.")
TREATED_ONE = gettext_noop(
    "It has treated 1 mail, of which somebody put %(corrections)d back: %(right)s right."
)
TREATED = gettext_noop(
    "It has treated %(mails)d mails, of which somebody put %(corrections)d back: %(right)s right."
)


@dataclass(frozen=True, kw_only=True)
class World:
    """What cards are described with: names of the provider's things, titles and pages of mails."""

    names: in_words.Names
    mails: Mapping[Any, tuple[str, str]]
    now: datetime
    zone: str


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One mail that it treated."""

    subject: str
    link: str
    at: str
    correction: str


@dataclass(frozen=True, kw_only=True)
class PatternCard:
    """`bound` is what a word to approve names, so that nothing acts that was changed since."""

    id: UUID
    name: str
    account: str
    state: str
    kind: str
    why: str
    fits: tuple[tuple[str, str], ...]
    does: tuple[str, ...]
    evidence: str
    in_use: str
    lately: tuple[Hit, ...]
    nobody_asked: bool
    bound: str
    words: tuple[tuple[str, str], ...]
    url: str


@require_GET
@never_cache
@for_operators
def page(request: HttpRequest) -> HttpResponse:
    """`?organisation=&user=&page=`. Eleven queries, however many there are."""
    chosen = choose_user(request)
    with speaking_to(request, chosen.organisation, chosen.user_id, zone=chosen.zone) as zone:
        return _show(request, chosen, zone)


def _show(request: HttpRequest, chosen: Chosen, zone: str) -> HttpResponse:
    found = Paginator(_rows(chosen.account_ids), PER_PAGE).get_page(request.GET.get("page"))
    rows: list[Any] = list(found)
    hits = [(row.account_id, hit.item_id) for row in rows for hit in row.lately]
    world = World(
        names=in_words.load_names(rows), mails=list_items(hits), now=timezone.now(), zone=zone
    )
    return render(
        request,
        "console/patterns.html",
        chosen.context
        | {
            "here": "console-patterns",
            "page": found,
            "cards": [_describe(row, world) for row in rows],
            "may_decide": has_scope(
                request.user, ServiceToken.Scope.LEARNING, is_own=chosen.is_own
            ),
        },
    )


def _rows(account_ids: tuple[UUID, ...]) -> QuerySet[LearnedPattern]:
    lately = PatternHit.objects.order_by("-at")[:LATELY]
    rows = LearnedPattern.objects.filter(account_id__in=account_ids).select_related("account")
    # Only a first approval needs it, and a pattern that acts may have thousands of rows.
    decided = PatternEvidence.objects.exclude(side=Side.UNDECIDED).filter(pattern__approved_at=None)
    rows = rows.prefetch_related(
        "actions",
        Prefetch("hit_rows", lately, to_attr="lately"),
        Prefetch("evidence", decided, to_attr="weighed"),
    )
    return rows.annotate(**COUNTS).order_by(WAITING_FIRST, "-created_at", "id")


def _describe(row: Any, world: World) -> PatternCard:
    state, kind = _state(row, world.now)
    lack = evidence.refuse_approval(row, row.weighed)
    words = tuple((word, gettext(label)) for word, label in WORDS[State(row.state)])
    return PatternCard(
        id=row.id,
        name=visible(row.name),
        account=visible(row.account.address or row.account.get_source_display()),
        state=state,
        kind=kind,
        why=visible(row.suspended_why),
        fits=tuple(_fits(row)),
        does=tuple(_does(row, world.names)),
        evidence=_weigh(row, lack),
        in_use=_count(row),
        lately=tuple(
            Hit(
                subject=visible(hit.subject) or gettext(NO_SUBJECT),
                link=world.mails.get((row.account_id, hit.item_id), ("", ""))[1],
                at=moment(hit.at, world.zone),
                correction=visible(hit.correction),
            )
            for hit in row.lately
        ),
        nobody_asked=row.proposed_by == LearnedPattern.ProposedBy.MAIL,
        bound=json.dumps({"tried_at": row.tried_at.isoformat()}) if row.tried_at else "",
        words=words if lack is None else tuple(one for one in words if one[0] != "approve"),
        url=reverse("pattern-decide", args=[row.id]),
    )


def _state(row: LearnedPattern, now: datetime) -> tuple[str, str]:
    """In words, and as what its card looks."""
    if row.state == State.PROPOSED:
        return gettext("Waits for your word"), "pending"
    if row.state == State.SUSPENDED:
        return gettext("Stopped"), "refused"
    if row.acts_at(now):
        return gettext("Acts"), "done"
    if row.is_expired(now):
        return gettext("Has run out"), "handled"
    return gettext("Not used for long, so it rests"), "handled"


def _fits(row: LearnedPattern) -> list[tuple[str, str]]:
    labels = {
        gettext("From"): row.sender_address,
        gettext("From anybody at"): row.sender_domain,
        gettext("Mailing list"): row.list_id,
        gettext("Subject, whatever its numbers"): row.subject,
    }
    return [(label, visible(value)) for label, value in labels.items() if value]


def _does(row: LearnedPattern, names: in_words.Names) -> list[str]:
    found = []
    for step in row.actions.all():
        title = gettext(title_of(step.action_type))
        values = in_words.describe_arguments(row.account_id, step.arguments, names)
        found.append(f"{title} ({values})" if values else title)
    return found


def _weigh(row: Any, lack: evidence.Lack | None) -> str:
    """What its trial on past mail says for and against it, and what is missing."""
    if row.tried_at is None:
        return gettext(UNTRIED)
    agrees, otherwise, open_ = (
        getattr(row, side.value) for side in (Side.SUPPORTING, Side.CONTRADICTING, Side.UNDECIDED)
    )
    fits, decided = agrees + otherwise + open_, agrees + otherwise
    found = [
        fill(FITS, mails=row.tried_mails, fits=fits, agrees=agrees, otherwise=otherwise, open=open_)
        if fits
        else fill(FITS_NONE, mails=row.tried_mails)
    ]
    if decided:
        found.append(fill(SHARE, share=f"{agrees / decided:.0%}"))
    if lack:
        found.append(fill(lack.template, **lack.figures))
    return " ".join(found)


def _count(row: LearnedPattern) -> str:
    if row.precision is None:
        return gettext("It has treated no mail yet.")
    treated = TREATED_ONE if row.hits == 1 else TREATED
    right = f"{row.precision:.0%}"
    return fill(treated, mails=row.hits, corrections=row.corrections, right=right)

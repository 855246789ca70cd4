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
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from agents.office.console_access import choose_user, for_operators, has_scope, list_items
from guardrails.facts.targets import place_of
from guardrails.facts.text import visible
from guardrails.models import LearnedPattern, PatternEvidence, PatternHit
from integrations.models import ProviderResource, ServiceToken

PER_PAGE = 20
LATELY = 5
State, Side = LearnedPattern.State, PatternEvidence.Side
COUNTS = {side.value: Count("evidence", filter=Q(evidence__side=side)) for side in Side}
WAITING_FIRST = Case(When(state=State.PROPOSED, then=Value(0)), default=Value(1))
WORDS = {
    State.PROPOSED: (("approve", "Approve"), ("decline", "Decline")),
    State.APPROVED: (("suspend", "Stop"),),
    State.SUSPENDED: (("approve", "Let it act again"),),
}
Things = Mapping[tuple[UUID, str], str]  # by account and the provider's id


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One mail that it treated."""

    subject: str
    link: str
    at: datetime
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
    """`?organisation=&user=&page=`. Nine queries, however many there are."""
    chosen = choose_user(request)
    found = Paginator(_rows(chosen.account_ids), PER_PAGE).get_page(request.GET.get("page"))
    rows: list[Any] = list(found)
    hits = [(row.account_id, hit.item_id) for row in rows for hit in row.lately]
    names, mails = _name_things(chosen.account_ids), list_items(hits)
    now = timezone.now()
    return render(
        request,
        "console/patterns.html",
        chosen.context
        | {
            "here": "console-patterns",
            "page": found,
            "cards": [_describe(row, names, mails, now) for row in rows],
            "may_decide": has_scope(
                request.user, ServiceToken.Scope.LEARNING, is_own=chosen.is_own
            ),
        },
    )


def _rows(account_ids: tuple[UUID, ...]) -> QuerySet[LearnedPattern]:
    lately = PatternHit.objects.order_by("-at")[:LATELY]
    rows = LearnedPattern.objects.filter(account_id__in=account_ids).select_related("account")
    rows = rows.prefetch_related("actions", Prefetch("hit_rows", lately, to_attr="lately"))
    return rows.annotate(**COUNTS).order_by(WAITING_FIRST, "-created_at", "id")


def _name_things(account_ids: tuple[UUID, ...]) -> Things:
    rows = ProviderResource.objects.filter(account_id__in=account_ids).exclude(name="")
    return {(row.account_id, row.external_id): row.name for row in rows}


def _describe(
    row: Any, names: Things, mails: Mapping[Any, tuple[str, str]], now: datetime
) -> PatternCard:
    state, kind = _state(row, now)
    words = WORDS[State(row.state)]
    return PatternCard(
        id=row.id,
        name=visible(row.name),
        account=visible(row.account.address or row.account.get_source_display()),
        state=state,
        kind=kind,
        why=visible(row.suspended_why),
        fits=tuple(_fits(row)),
        does=tuple(_does(row, names)),
        evidence=_weigh(row),
        in_use=_count(row),
        lately=tuple(
            Hit(
                subject=visible(hit.subject) or "(no subject)",
                link=mails.get((row.account_id, hit.item_id), ("", ""))[1],
                at=hit.at,
                correction=visible(hit.correction),
            )
            for hit in row.lately
        ),
        nobody_asked=row.proposed_by == LearnedPattern.ProposedBy.MAIL,
        bound=json.dumps({"tried_at": row.tried_at.isoformat()}) if row.tried_at else "",
        words=words if row.tried_at else tuple(one for one in words if one[0] != "approve"),
        url=reverse("pattern-decide", args=[row.id]),
    )


def _state(row: LearnedPattern, now: datetime) -> tuple[str, str]:
    """In words, and as what its card looks."""
    if row.state == State.PROPOSED:
        return "Waits for your word", "pending"
    if row.state == State.SUSPENDED:
        return "Stopped", "refused"
    if row.acts_at(now):
        return "Acts", "done"
    return ("Has run out" if row.is_expired(now) else "Not used for long, so it rests"), "handled"


def _fits(row: LearnedPattern) -> list[tuple[str, str]]:
    labels = {
        "From": row.sender_address,
        "From anybody at": row.sender_domain,
        "Mailing list": row.list_id,
        "Subject, whatever its numbers": row.subject,
    }
    return [(label, visible(value)) for label, value in labels.items() if value]


def _does(row: LearnedPattern, names: Things) -> list[str]:
    found = []
    for step in row.actions.all():
        title = step.get_action_type_display()
        called = {
            place_of(name).removesuffix(" id"): names.get((row.account_id, str(value)), str(value))
            for name, value in step.arguments.items()
        }
        values = ", ".join(f"{name}: {visible(value)}" for name, value in called.items())
        found.append(f"{title} ({values})" if values else title)
    return found


def _weigh(row: Any) -> str:
    """What its trial on past mail says for and against it."""
    if row.tried_at is None:
        return "It is tried on your past mail within a minute. Until then nobody can approve it."
    agrees, otherwise, open_ = (
        getattr(row, side.value) for side in (Side.SUPPORTING, Side.CONTRADICTING, Side.UNDECIDED)
    )
    if not agrees + otherwise + open_:
        return f"It fits none of your newest {row.tried_mails} mails."
    share = (
        f" That is {agrees / (agrees + otherwise):.0%} of what was decided."
        if agrees + otherwise
        else ""
    )
    return (
        f"Of your newest {row.tried_mails} mails it fits {agrees + otherwise + open_}: {agrees} "
        f"treated just like that, {otherwise} treated otherwise, {open_} not looked at yet.{share}"
    )


def _count(row: LearnedPattern) -> str:
    if row.precision is None:
        return "It has treated no mail yet."
    mails = "1 mail" if row.hits == 1 else f"{row.hits} mails"
    return (
        f"It has treated {mails}, of which somebody put {row.corrections} back: "
        f"{row.precision:.0%} right."
    )

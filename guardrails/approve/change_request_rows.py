"""Rows of change requests as values, in words, and in the ledger."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from audit.contracts import Entry
from audit.ledger import ledger
from guardrails.approve.cards import named
from guardrails.approve.speaking import fill, moment, say
from guardrails.contracts.cards import ChangeRequestCard
from guardrails.facts.phrases import joined, phrase
from guardrails.facts.text import visible
from guardrails.models import AskedRefusal, ChangeRequest
from guardrails.policies.differences import Difference
from integrations.models.preferences import find_zones

ACTION_TYPE = "policy.request"
MAX_LISTED = 200
SAID = frozenset({"description", "differences"})
WAITS = "Asked for at %(time)s. It waits for an operator."
APPROVED = "Approved by %(who)s at %(time)s. Nothing was done by that: ask the agent again."
DECLINED = "Declined by %(who)s at %(time)s. “%(answer)s”"
State = ChangeRequest.State


def list_requests(
    *,
    organisation_id: UUID,
    external_user_id: str,
    state: str | None = None,
    limit: int = MAX_LISTED,
) -> tuple[ChangeRequestCard, ...]:
    """The user's requests, newest first. Two queries."""
    rows = ChangeRequest.objects.filter(
        organisation_id=organisation_id, external_user_id=external_user_id
    )
    if state is not None:
        rows = rows.filter(state=state)
    found = list(rows.order_by("-created_at", "-id")[:limit])
    zone = find_zone(found[0]) if found else ""
    return tuple(card(row, zone=zone) for row in found)


def list_open(organisation_id: UUID) -> QuerySet[ChangeRequest]:
    """Requests of the organisation that wait for an operator."""
    return ChangeRequest.objects.filter(organisation_id=organisation_id, state=State.OPEN)


def find_by_refusal(
    *, organisation_id: UUID, action_ids: Iterable[UUID]
) -> dict[UUID, ChangeRequestCard]:
    """The requests that became of these refused actions, which are one user's. Two queries at
    most; none without actions."""
    wanted = list(action_ids)
    if not wanted:
        return {}
    rows = AskedRefusal.objects.select_related("change_request").filter(
        action_id__in=wanted, change_request__organisation_id=organisation_id
    )
    requests = {row.action_id: row.change_request for row in rows}
    zone = find_zone(next(iter(requests.values()))) if requests else ""
    return {id: card(request, zone=zone) for id, request in requests.items()}


def find_zone(row: ChangeRequest) -> str:
    """The time zone of the user who asks: times are said in it. One query."""
    user = row.external_user_id
    return find_zones(row.organisation_id, [user]).get(user, "UTC")


def card(row: ChangeRequest, *, zone: str) -> ChangeRequestCard:
    names = ChangeRequestCard.__dataclass_fields__.keys() - {*SAID, "sentence"}
    return ChangeRequestCard(
        **{name: getattr(row, name) for name in names},
        description=say(row.description, row.wordings, zone=zone),
        differences=tuple(say(one, row.wordings) for one in row.differences),
        sentence=in_a_sentence(row, zone=zone),
    )


def in_words(one: Difference) -> str:
    """One entry that changes, in one line."""
    sides = joined((side for side in (one.was, one.becomes) if side), by=" → ")
    return phrase(f"%(name)s {one.verb}: %(sides)s", name=one.name, sides=sides)


def in_a_sentence(row: ChangeRequest, *, zone: str = "UTC") -> str:
    """How far it is, in the language that is spoken and on the clock of this zone."""
    if row.decided_at is None:
        return fill(WAITS, time=moment(row.created_at, zone))
    approved = row.state == State.APPROVED
    return fill(
        APPROVED if approved else DECLINED,
        who=named(row.decided_by),
        time=moment(row.decided_at, zone),
        answer=visible(row.answer),
    )


def record(request: ChangeRequest, *, by: str, about: UUID, payload: Mapping[str, Any]) -> None:
    """A row of the ledger under the request's own id, whose parent is the refused action."""
    ledger.append(
        Entry(
            tenant_id=request.organisation_id,
            account_id=request.account_id,
            action_id=request.id,
            phase="control",
            status="recorded",
            action_type=ACTION_TYPE,
            actor_type="admin" if by.startswith("operator:") else "user",
            actor_id=by,
            on_behalf_of=request.external_user_id,
            trigger="operator",
            occurred_at=timezone.now(),
            parent_action_id=about,
            resource_type=request._meta.model_name or "",
            resource_id=str(request.id),
            payload={
                "description": request.description,
                "differences": request.differences,
                **payload,
            },
        )
    )

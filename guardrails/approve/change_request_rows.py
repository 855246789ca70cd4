"""Rows of change requests as values, in words, and in the ledger."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

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
    """The user's requests, newest first. One query."""
    rows = ChangeRequest.objects.filter(
        organisation_id=organisation_id, external_user_id=external_user_id
    )
    if state is not None:
        rows = rows.filter(state=state)
    return tuple(card(row) for row in rows.order_by("-created_at", "-id")[:limit])


def count_open(organisation_id: UUID, *, limit: int) -> int:
    """How many requests of the organisation wait for an operator, up to `limit`. One query."""
    rows = ChangeRequest.objects.filter(organisation_id=organisation_id, state=State.OPEN)
    return rows[:limit].count()


def find_by_refusal(
    *, organisation_id: UUID, action_ids: Iterable[UUID]
) -> dict[UUID, ChangeRequestCard]:
    """The requests that became of these refused actions. One query; none without actions."""
    wanted = list(action_ids)
    rows = AskedRefusal.objects.select_related("change_request").filter(
        action_id__in=wanted, change_request__organisation_id=organisation_id
    )
    return {row.action_id: card(row.change_request) for row in rows} if wanted else {}


def card(row: ChangeRequest) -> ChangeRequestCard:
    names = ChangeRequestCard.__dataclass_fields__.keys() - {*SAID, "sentence"}
    return ChangeRequestCard(
        **{name: getattr(row, name) for name in names},
        description=say(row.description, row.wordings),
        differences=tuple(say(one, row.wordings) for one in row.differences),
        sentence=in_a_sentence(row),
    )


def in_words(one: Difference) -> str:
    """One entry that changes, in one line."""
    sides = joined((side for side in (one.was, one.becomes) if side), by=" → ")
    return phrase(f"%(name)s {one.verb}: %(sides)s", name=one.name, sides=sides)


def in_a_sentence(row: ChangeRequest) -> str:
    """How far it is, in the language that is spoken."""
    if row.decided_at is None:
        return fill(WAITS, time=moment(row.created_at))
    approved = row.state == State.APPROVED
    return fill(
        APPROVED if approved else DECLINED,
        who=named(row.decided_by),
        time=moment(row.decided_at),
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

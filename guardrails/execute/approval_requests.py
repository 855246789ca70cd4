"""Asking a person: approvals are made here, by the executor, when the verdict is ask."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from audit.ledger.chain import canonical_bytes
from guardrails.contracts import ActionRequest, ActionResult
from guardrails.decide.checks.case import FROM_CONTENT
from guardrails.decide.questions import (
    Asked,
    Known,
    Limits,
    NoRoom,
    Waiting,
    asked_of,
    find_question,
)
from guardrails.decide.two_people import doubt_second
from guardrails.facts.phrases import wordings
from guardrails.facts.reasons import sentence
from guardrails.gather import persons
from guardrails.gather.judgement import Judgement
from guardrails.gather.usage import run_of
from guardrails.models import Approval, TrialAsk
from integrations.database.locks import take_lock

REASON_OF = {
    Approval.State.REJECTED: "rejected",
    Approval.State.EXPIRED: "approval_expired",
    Approval.State.SUPERSEDED: "edited",
}


# What a change of an approval leaves as it was.
INHERITED = (
    "delegated_to",
    "delegated_by",
    "delegated_as",
    "delegated_at",
    "escalated_at",
    "escalated_by",
)


WAITS_ALREADY = "The same action waits for the user already, and nothing was added to it."
Refusal = NoRoom | Literal["no_longer_waiting"]


def open_approval(request: ActionRequest, *, judgement: Judgement, now: datetime) -> UUID | Refusal:
    """The id of this action's approval, made if it is not there, or why nobody is asked. It is
    another action's, where the very same waits already. One that a person changed into this
    action stops waiting in the same transaction."""
    account, origin = request.account, request.origin
    with transaction.atomic():
        # Tool calls of one turn run side by side; the count must see every one of them.
        take_lock(f"asks {account.id}")
        found = Approval.objects.filter(action_id=request.action_id).first()
        if found is not None:
            return found.id
        if same := _waits_already(request, judgement, now):
            return same
        changed = _supersede(request, now) if origin.revises else None
        if origin.revises and changed is None:
            return "no_longer_waiting"
        asked, id = _asked(request, judgement, now), uuid4()
        known = _find_known(request, asked, now)
        question = find_question(asked, known, _limits(), in_place_of_another=changed is not None)
        if isinstance(question, str):
            return question
        hours = settings.APPROVAL_HOURS
        decision = judgement.decision
        return Approval.objects.create(
            id=id,
            action_id=request.action_id,
            question=question or id,
            asked=asdict(asked),
            revises=changed,
            organisation_id=account.organisation_id,
            account_id=account.id,
            external_user_id=account.external_user_id,
            turn_id=origin.turn_id,
            call_id=origin.call_id,
            action_type=request.action_type,
            arguments=dict(request.arguments),
            origin=asdict(origin),
            provenance=dict(decision.provenance),
            readings=dict(decision.readings),
            first_seen=dict(judgement.first_seen),
            differences=[list(one) for one in judgement.differences],
            reached=dict(judgement.reached),
            side_effects=list(decision.side_effects),
            exposures=[one.plain() | {"passage": one.passage} for one in decision.exposures],
            digest=judgement.digest,
            people_needed=judgement.people_needed,
            policy_digest=decision.policy_digest,
            description=judgement.description,
            reason=decision.sentence,
            wordings=wordings(_lines(judgement)),
            expires_at=now + timedelta(hours=hours) if hours else None,
            **{name: getattr(changed, name) for name in INHERITED if changed},
        ).id


def why_nobody_is_asked(
    request: ActionRequest, *, judgement: Judgement, trial: UUID, now: datetime
) -> NoRoom | None:
    """Why `open_approval` would ask nobody, if what the trial would have asked before were asked;
    None: a person would be. Kept for the mails of the trial that come later, once for an action."""
    account = request.account
    with transaction.atomic():
        take_lock(f"asks {trial}")
        earlier = TrialAsk.objects.filter(account_id=account.id, trial=trial)
        same = hashlib.sha256(canonical_bytes(_alike(request, judgement))).hexdigest()
        if (
            earlier.filter(Q(action_id=request.action_id) | Q(same=same)).exists()
            or _waits_already(request, judgement, now) is not None
        ):
            return None
        asked = _asked(request, judgement, now)
        known = _find_known(request, asked, now, trial=earlier)
        question = find_question(asked, known, _limits())
        if isinstance(question, str):
            return question
        TrialAsk.objects.create(
            action_id=request.action_id,
            trial=trial,
            account_id=account.id,
            question=question or request.action_id,
            asked=asdict(asked),
            same=same,
            created_at=now,
        )
        return None


def _lines(judgement: Judgement) -> tuple[str, ...]:
    """All that Remit says of it."""
    decision = judgement.decision
    return (
        judgement.description,
        decision.sentence,
        *decision.side_effects,
        *decision.readings.values(),
        *judgement.first_seen.values(),
        *(text for one in judgement.differences for text in one),
    )


def _waits_already(request: ActionRequest, judgement: Judgement, now: datetime) -> UUID | None:
    """The approval of the same action, as long as its card would still look the same. What a
    person changed is never one."""
    waiting = Approval.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now),
        account_id=request.account.id,
        state=Approval.State.PENDING,
        **_alike(request, judgement),
    )
    found = waiting.order_by("created_at").values_list("id", flat=True).first()
    return None if request.origin.revises else found


def _alike(request: ActionRequest, judgement: Judgement) -> dict[str, Any]:
    """What two actions of an account share if their cards look the same."""
    return {
        "action_type": request.action_type,
        "arguments": dict(request.arguments),
        "description": judgement.description,
        "differences": [list(one) for one in judgement.differences],
        "reached": dict(judgement.reached),
        "side_effects": list(judgement.decision.side_effects),
    }


def _asked(request: ActionRequest, judgement: Judgement, now: datetime) -> Asked:
    if judgement.action is None or judgement.arguments is None:
        raise ValueError("a refusal asks nobody")
    return asked_of(
        request,
        judgement.action,
        judgement.arguments,
        judgement.facts,
        judgement.decision,
        run=run_of(request, now),
    )


def _find_known(
    request: ActionRequest,
    asked: Asked,
    now: datetime,
    *,
    trial: QuerySet[TrialAsk] | None = None,
) -> Known:
    """With a trial's own questions, where one is named."""
    causes = asked.causes if request.origin.trigger in FROM_CONTENT else ()
    rows = Approval.objects.filter(account_id=request.account.id)
    waiting = rows.filter(state=Approval.State.PENDING).order_by("created_at", "id")
    every = list(waiting.values_list("question", "asked", "shown_at"))
    counted: list[QuerySet[Any]] = [rows]
    if trial is not None:
        own = trial.order_by("created_at", "action_id")
        every += [(question, said, None) for question, said in own.values_list("question", "asked")]
        counted.append(trial)
    since = now - timedelta(days=1)
    return Known(
        waiting=_group(every),
        asked_today={
            one: sum(
                each.filter(created_at__gte=since, asked__causes__contains=[one]).count()
                for each in counted
            )
            for one in causes
        },
    )


def _group(
    rows: Iterable[tuple[UUID, Mapping[str, Any], datetime | None]],
) -> dict[UUID, Waiting]:
    """Open questions in the order of their first actions, which make them what they are."""
    found: dict[UUID, Waiting] = {}
    for question, asked, shown_at in rows:
        known = found.get(question)
        found[question] = Waiting(
            asked=known.asked if known else Asked(**asked),
            actions=known.actions + 1 if known else 1,
            is_shown=shown_at is not None or (known is not None and known.is_shown),
        )
    return found


def _limits() -> Limits:
    return Limits(
        run=settings.MAX_OPEN_ASKS_PER_TURN,
        cause=settings.MAX_OPEN_ASKS_PER_CAUSE,
        account=settings.MAX_OPEN_ASKS_PER_ACCOUNT,
        reserved=settings.OPEN_ASKS_KEPT_FOR_PEOPLE,
    )


def _supersede(request: ActionRequest, now: datetime) -> Approval | None:
    """Takes the approval that a person changed out of waiting; None: it waits no longer."""
    in_time = Q(expires_at=None) | Q(expires_at__gt=now)
    origin = request.origin
    changed = Approval.objects.filter(
        in_time, account_id=request.account.id, action_id=origin.revises, state="pending"
    ).update(
        state=Approval.State.SUPERSEDED,
        decided_at=now,
        decided_by=origin.edited_by,
        decided_as=origin.edited_as,
    )
    return Approval.objects.get(action_id=origin.revises) if changed else None


def was_said_by_two(approval_id: UUID, *, digest: str) -> bool:
    """Whether two different people confirmed exactly this, the second neither whose account it is
    nor who asked for it. Looked up anew, so that nothing is done on the word of one."""
    row = Approval.objects.filter(id=approval_id, digest=digest, first_yes_at__isnull=False).first()
    if row is None or row.state != Approval.State.APPROVED:
        return False
    doubt = doubt_second(
        persons.find_names(row.decided_by, row.decided_as, row.organisation_id),
        first=frozenset(row.first_yes_names or ()),
        requesters=persons.find_requesters(row),
    )
    return not doubt


def waiting_as(approval_id: UUID, request: ActionRequest) -> ActionResult | None:
    """The action that waits, where this request only asks for it again; None where the approval
    is the request's own."""
    approval = Approval.objects.get(id=approval_id)
    if approval.action_id == request.action_id:
        return None
    return replace(_result(approval), sentence=WAITS_ALREADY)


def result(request: ActionRequest) -> ActionResult:
    """The result of an action that a person is, or was, asked about."""
    return _result(Approval.objects.get(action_id=request.action_id))


def _result(approval: Approval) -> ActionResult:
    reason = REASON_OF.get(Approval.State(approval.state), "needs_approval")
    return ActionResult(
        status="pending" if reason == "needs_approval" else "refused",
        action_id=approval.action_id,
        action_type=approval.action_type,
        description=approval.description,
        arguments=approval.arguments,
        reason=reason,
        sentence=approval.reason if reason == "needs_approval" else sentence(reason),
        approval_id=approval.id,
        proposed=approval.origin.get("proposed", {}),
    )

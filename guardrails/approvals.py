"""A person's word on an action that waits: claimed once, decided again, then executed.

States change by conditional updates alone, so that of many answers one wins. Confirming an
approval again finishes what a crash interrupted and gives the same result.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from audit import ledger
from audit.contracts import ActorType, Status
from audit.ids import uuid7
from audit.selectors import recorded
from guardrails import entries, registry, selectors
from guardrails.contracts import ActionRequest, ActionResult, Origin
from guardrails.executor import Confirmation, execute
from guardrails.models import Approval, Hold
from guardrails.registry import InvalidArguments

log = logging.getLogger(__name__)
State = Approval.State
Word = Literal["confirm", "reject", "edit"]
FINAL_STATE = {
    "succeeded": State.EXECUTED,
    "noop": State.EXECUTED,
    "failed": State.FAILED,
    "refused": State.REFUSED,
    "unknown": State.FAILED,
}
CLOCK = "expiry"
CLAIMED = ["state", "decided_at", "decided_by", "decision_reason"]


class ApprovalNotFound(Exception):
    """There is no such approval for this organisation and user."""


class ApprovalConflict(Exception):
    """The approval was decided otherwise, or is not what was shown. The message says which."""


def confirm(
    *,
    organisation_id: UUID,
    approval_id: UUID,
    decided_by: str,
    external_user_id: str | None = None,
    digest: str | None = None,
) -> ActionResult:
    """A person says yes: decide again under the present policy, execute, give the result.

    With `external_user_id` only that user's approvals are found; with `digest` the word
    counts only for exactly what was shown. The same answer again gives the same result.
    Raises ApprovalNotFound, ApprovalConflict, audit.ledger.LedgerError.
    """
    row = _find(organisation_id, approval_id, external_user_id)
    _check_digest(row, digest)
    return _accept(row, decided_by)


def reject(
    *,
    organisation_id: UUID,
    approval_id: UUID,
    decided_by: str,
    external_user_id: str | None = None,
    digest: str | None = None,
    reason: str = "",
) -> ActionResult:
    """A person says no, for good. Raises ApprovalNotFound, ApprovalConflict."""
    row = _find(organisation_id, approval_id, external_user_id)
    _check_digest(row, digest)
    _decline(row, decided_by, reason)
    return _finish(row)


def edit(
    *,
    organisation_id: UUID,
    approval_id: UUID,
    decided_by: str,
    changes: Mapping[str, Any],
    external_user_id: str | None = None,
    digest: str | None = None,
) -> ActionResult:
    """A person changes arguments (`changes`; what it does not name stays, null takes away).

    That makes another action, decided under the present policy. If it may be asked about, it
    waits with a digest of its own and the old one stops waiting. If the policy refuses it, the
    old one stays as it is. The same edit again gives the same result. Raises ApprovalNotFound,
    ApprovalConflict, guardrails.registry.InvalidArguments.
    """
    row = _find(organisation_id, approval_id, external_user_id)
    _check_digest(row, digest)
    return _revise(row, decided_by, changes)


def decide(
    *,
    organisation_id: UUID,
    approval_id: UUID,
    decided_by: str,
    word: Word,
    external_user_id: str | None = None,
    digest: str | None = None,
    reason: str = "",
    changes: Mapping[str, Any] | None = None,
) -> ActionResult:
    """A person's word as one value: as `confirm`, `reject` or `edit`, and what became of the
    action. Where the word came too late or was about something else, the result is that of
    the decision that counts. Raises ApprovalNotFound, audit.ledger.LedgerError."""
    row = _find(organisation_id, approval_id, external_user_id)
    try:
        _check_digest(row, digest)
        if word == "confirm":
            return _accept(row, decided_by)
        if word == "edit":
            return _revise(row, decided_by, changes or {})
        _decline(row, decided_by, reason)
    except ApprovalConflict:
        log.info("guardrails.approval_conflict approval=%s", approval_id)
    except InvalidArguments as error:
        detail = f"{error}."
        return replace(_finish(row), reason="invalid_arguments", sentence=detail)
    return _finish(row)


def expire(approval_id: UUID) -> bool:
    """Close an overdue approval. False when it was decided or is not overdue."""
    row = Approval.objects.select_related("account__organisation").get(id=approval_id)
    now = timezone.now()
    if not _claim(row, Q(expires_at__lte=now), state=State.EXPIRED, by=CLOCK, now=now):
        return False
    _record(row, status="denied", reason="approval_expired", actor_type="system")
    return True


def expire_overdue(*, now: datetime) -> int:
    """Close every approval that nobody decided in time; how many those were."""
    return sum(expire(approval_id) for approval_id in selectors.overdue(now))


def finish_confirmed(*, older_than_seconds: float, limit: int = 100) -> int:
    """Go on with confirmed approvals whose process died on the way; how many have an end
    now. Each is decided again, and what the provider did already is not done twice."""
    before = timezone.now() - timedelta(seconds=older_than_seconds)
    held = Hold.objects.filter(action_id=OuterRef("action_id"), state=Hold.State.HELD)
    rows = Approval.objects.select_related("account__organisation").filter(
        ~Exists(held), state=State.APPROVED, decided_at__lte=before
    )
    results = [_finish(row) for row in rows.order_by("decided_at")[:limit]]
    return sum(map(_has_ended, results))


def _find(organisation_id: UUID, approval_id: UUID, external_user_id: str | None) -> Approval:
    rows = Approval.objects.select_related("account__organisation").filter(
        id=approval_id, organisation_id=organisation_id
    )
    if external_user_id is not None:
        rows = rows.filter(external_user_id=external_user_id)
    row = rows.first()
    if row is None:
        raise ApprovalNotFound("There is no such approval.")
    return row


def _check_digest(row: Approval, digest: str | None) -> None:
    if digest is not None and digest != row.digest:
        raise ApprovalConflict("This is not what was shown. Look at it again and decide then.")


def _accept(row: Approval, by: str) -> ActionResult:
    now = timezone.now()
    in_time = Q(expires_at=None) | Q(expires_at__gt=now)
    _claim(row, in_time, state=State.APPROVED, by=by, now=now)
    if row.state == State.PENDING:  # not claimed, and nobody else did: it is overdue
        expire(row.id)
        row.refresh_from_db(fields=CLAIMED)
    if row.state in (State.REJECTED, State.SUPERSEDED):
        raise ApprovalConflict(f"This is no longer waiting: {_label(row)} {_when(row)}.")
    return _finish(row)


def _decline(row: Approval, by: str, reason: str) -> None:
    _claim(row, Q(), state=State.REJECTED, by=by, now=timezone.now(), reason=reason)
    if row.state != State.REJECTED:
        raise ApprovalConflict(f"This is no longer waiting: {_label(row)} {_when(row)}.")
    _record(row, status="denied", reason="rejected", payload={"person_said": row.decision_reason})


def _revise(row: Approval, by: str, changes: Mapping[str, Any]) -> ActionResult:
    proposal = _request(row)
    arguments = _changed(proposal, changes)
    earlier = Approval.objects.select_related("account__organisation").filter(revises=row).first()
    if earlier is not None and earlier.arguments == arguments:
        return execute(_request(earlier))
    if row.state != State.PENDING:
        raise ApprovalConflict(f"This is no longer waiting: {_label(row)} {_when(row)}.")
    origin = proposal.origin
    result = execute(
        replace(
            proposal,
            action_id=uuid7(),
            arguments=arguments,
            origin=replace(
                origin,
                revises=str(row.action_id),
                edited_by=by,
                proposed=origin.proposed or proposal.arguments,
            ),
        )
    )
    if result.reason == "no_longer_waiting":
        expire(row.id)
        row.refresh_from_db(fields=CLAIMED)
        raise ApprovalConflict(f"This is no longer waiting: {_label(row)} {_when(row)}.")
    if result.status != "pending":
        return result  # refused, or there is nothing to do: what was proposed still waits
    row.refresh_from_db(fields=CLAIMED)
    _record(row, status="denied", reason="edited", payload={"replaced_by": str(result.action_id)})
    return result


def _changed(proposal: ActionRequest, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The canonical arguments with a person's changes. Raises InvalidArguments."""
    action = registry.BY_NAME.get(proposal.action_type)
    if action is None:
        raise InvalidArguments("there is no such action any more")
    arguments = registry.canonical(registry.parse(action, {**proposal.arguments, **changes}))
    if arguments == proposal.arguments:
        raise InvalidArguments("nothing is changed")
    field = action.object_field
    if field is not None and arguments[field] != proposal.arguments[field]:
        raise InvalidArguments(f"{field}: another one is another action")
    return arguments


def _claim(
    row: Approval, condition: Q, *, state: State, by: str, now: datetime, reason: str = ""
) -> bool:
    """Takes the approval out of waiting, if it still waits; afterwards `row` is as stored."""
    claimed = Approval.objects.filter(condition, id=row.id, state=State.PENDING).update(
        state=state, decided_at=now, decided_by=by, decision_reason=reason
    )
    row.refresh_from_db(fields=CLAIMED)
    return claimed == 1


def _finish(row: Approval) -> ActionResult:
    """Executes a confirmed approval, or gives the result it had."""
    request = _request(row)
    if row.state == State.APPROVED:
        _record(row, status="recorded", reason="approved")
    result = execute(
        request,
        Confirmation(approval_id=row.id, decided_by=row.decided_by, digest=row.digest)
        if row.state == State.APPROVED
        else None,
    )
    if row.state == State.APPROVED and _has_ended(result):
        Approval.objects.filter(id=row.id, state=State.APPROVED).update(
            state=FINAL_STATE[result.status],
            executed={
                "status": result.status,
                "reason": result.reason,
                "sentence": result.sentence,
                "result": dict(result.result),
            },
        )
    return result


def _has_ended(result: ActionResult) -> bool:
    """Whether the result will not change: an open attempt may still turn out either way, and
    what is held can be recalled."""
    return result.status != "held" and result.reason != "outcome_unknown"


def _record(
    row: Approval,
    *,
    status: Status,
    reason: str,
    actor_type: ActorType | None = None,
    payload: dict[str, Any] | None = None,
) -> None:
    """The decision's row in the ledger, once."""
    request = _request(row)
    if any(phase.decision_reason == reason for phase in recorded(row.action_id)):
        return
    by_person: ActorType = "admin" if row.decided_by.startswith("operator:") else "user"
    ledger.append(
        entries.decided(
            request,
            status=status,
            reason=reason,
            approval_id=row.id,
            decided_by=row.decided_by,
            actor_type=actor_type or by_person,
            payload={"description": row.description, "digest": row.digest, **(payload or {})},
            now=timezone.now(),
        )
    )


def _request(row: Approval) -> ActionRequest:
    return ActionRequest(
        action_id=row.action_id,
        account=row.account.ref(),
        action_type=row.action_type,
        arguments=row.arguments,
        origin=Origin(**row.origin),
    )


def _label(row: Approval) -> str:
    return State(row.state).label.lower()


def _when(row: Approval) -> str:
    return f"at {row.decided_at:%Y-%m-%d %H:%M} UTC" if row.decided_at else ""

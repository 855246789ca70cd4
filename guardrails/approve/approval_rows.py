"""Rows of approvals: found for those who may see them, taken out of waiting once, and what
became of them in the ledger and in words."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from audit.contracts import ActorType, Status
from audit.ledger import ledger
from audit.ledger.selectors import recorded
from guardrails.approve.cards import handling, zone_of
from guardrails.execute import entries
from guardrails.execute.held_sends import request_of
from guardrails.facts.phrases import Phrase, phrase
from guardrails.models import Approval
from guardrails.models.approvals import ApprovalQuerySet

State = Approval.State
CLOCK = "expiry"
CLAIMED = [
    *("state", "decided_at", "decided_by", "decided_as", "decision_reason", "delegated_to"),
    "said_in",
]


NOT_SHOWN = gettext_noop("This is not what was shown. Look at it again and decide then.")
DECIDED = gettext_noop("This is no longer waiting: %(handling)s.")


class ApprovalNotFound(Exception):
    """There is no such approval for this organisation and user. The message is a phrase."""


class ApprovalConflict(Exception):
    """The approval was decided otherwise, is not what was shown, or is another person's to
    decide. The message, a phrase, says which, and who decided when."""


def user(external_user_id: str) -> str:
    """How a user is named where an approval is delegated to them."""
    return f"user:{external_user_id}"


def with_account() -> ApprovalQuerySet:
    return Approval.objects.select_related("account__organisation")


def find(organisation_id: UUID, approval_id: UUID, external_user_id: str | None) -> Approval:
    """Raises ApprovalNotFound. Without user: any approval of the organisation."""
    rows = with_account().filter(id=approval_id, organisation_id=organisation_id)
    if external_user_id is not None:
        rows = rows.for_user(external_user_id)
    row = rows.first()
    if row is None:
        raise ApprovalNotFound(phrase("There is no such approval."))
    return row


def check(row: Approval, *, digest: str | None, external_user_id: str | None) -> None:
    """Whether this person's word counts, for what they were shown. Raises ApprovalConflict."""
    if digest is not None and digest != row.digest:
        raise ApprovalConflict(phrase(NOT_SHOWN))
    own = ("", user(external_user_id)) if external_user_id is not None else ()
    if own and row.state == State.PENDING and row.delegated_to not in own:
        raise ApprovalConflict(
            phrase("This was delegated: another person decides, or an operator.")
        )


def claim(
    row: Approval,
    condition: Q,
    *,
    state: State,
    by: str,
    now: datetime,
    external_user_id: str | None = None,
    reason: str = "",
    said_in: str = "",
) -> bool:
    """Takes the approval out of waiting, if it still waits and is still in the hands it was
    in; afterwards `row` is as stored."""
    if external_user_id is not None:
        condition &= Q(delegated_to=row.delegated_to)
    claimed = Approval.objects.filter(condition, id=row.id, state=State.PENDING).update(
        state=state,
        decided_at=now,
        decided_by=by,
        decided_as=external_user_id or "",
        decision_reason=reason,
        said_in=said_in,
    )
    row.refresh_from_db(fields=CLAIMED)
    return claimed == 1


def expire(approval_id: UUID) -> bool:
    """Close an overdue approval. False when it was decided or is not overdue."""
    row = with_account().get(id=approval_id)
    now = timezone.now()
    if not claim(row, Q(expires_at__lte=now), state=State.EXPIRED, by=CLOCK, now=now):
        return False
    record(row)
    return True


def no_longer_waiting(row: Approval) -> ApprovalConflict:
    if row.state == State.PENDING:
        return ApprovalConflict(phrase("This was delegated meanwhile. Look at it again."))
    how = handling(row, zone=zone_of(row))
    line = f"This is no longer waiting: {how[:1].lower()}{how[1:]}."
    return ApprovalConflict(Phrase(line, DECIDED, {"handling": how}))


def record_first_yes(row: Approval) -> None:
    """The first of two yeses, as a row of the ledger: once, no matter who finishes it."""
    with transaction.atomic():
        Approval.objects.select_for_update().only("id").get(id=row.id)  # as in `record`
        if not any(phase.decision_reason == "first_yes" for phase in recorded(row.action_id)):
            remark(
                row,
                reason="first_yes",
                by=row.first_yes_by,
                external_user_id=row.first_yes_as,
                payload={"yes": "1 of 2"} | _bound(row, said_in=row.first_yes_in),
            )


def record(row: Approval) -> None:
    """What was decided, as a row of the ledger: once, no matter who finishes it. The first of two
    yeses stands there before."""
    if row.first_yes_at:
        record_first_yes(row)
    with transaction.atomic():
        # Two processes may finish one decision; the second waits here for the first's row.
        noted = Approval.objects.select_for_update().values_list("in_ledger", flat=True)
        if not noted.get(id=row.id):
            _record(row)
            Approval.objects.filter(id=row.id).update(in_ledger=True)


def _record(row: Approval) -> None:
    status, reason = DECISIONS.get(State(row.state), ("recorded", "approved"))
    payload: dict[str, Any] = {
        **_bound(row, said_in=row.said_in),
        "question": str(row.question),
        "seconds_to_decide": round(row.seconds_to_decide, 3),
        **_as_user(row.decided_as),
    }
    if row.first_yes_at and reason == "approved":
        payload |= {
            "yes": "2 of 2",
            "first_yes_by": row.first_yes_by,
            "first_yes_as": row.first_yes_as,
        }
    if row.state == State.REJECTED:
        payload["person_said"] = row.decision_reason
    revision = Approval.objects.filter(revises=row).first()
    if row.state == State.SUPERSEDED and revision is not None:
        payload["replaced_by"] = str(revision.action_id)
    if not any(phase.decision_reason == reason for phase in recorded(row.action_id)):
        _append(row, status=status, reason=reason, by=row.decided_by, payload=payload)


def _bound(row: Approval, *, said_in: str) -> dict[str, Any]:
    """What was shown to who said it, and the message in which they said it."""
    in_words = {"confirmed": "in words", "message_id": said_in} if said_in else {}
    return {"description": row.description, "digest": row.digest, **in_words}


def remark(
    row: Approval,
    *,
    reason: str,
    by: str,
    external_user_id: str | None,
    payload: Mapping[str, Any],
) -> None:
    """A row of the ledger about an approval that goes on waiting."""
    said = {**payload, **_as_user(external_user_id)}
    _append(row, status="recorded", reason=reason, by=by, payload=said)


def _as_user(external_user_id: str | None) -> dict[str, str]:
    """For whom the word was given: the row itself names who gave it, which may be a token."""
    return {"as_user": external_user_id} if external_user_id else {}


DECISIONS: Mapping[State, tuple[Status, str]] = {
    State.REJECTED: ("denied", "rejected"),
    State.EXPIRED: ("denied", "approval_expired"),
    State.SUPERSEDED: ("denied", "edited"),
}


def _append(
    row: Approval, *, status: Status, reason: str, by: str, payload: Mapping[str, Any]
) -> None:
    ledger.append(
        entries.decided(
            request_of(row),
            status=status,
            reason=reason,
            approval_id=row.id,
            decided_by=by,
            actor_type=_actor_type(by),
            payload=payload,
            now=timezone.now(),
        )
    )


def _actor_type(by: str) -> ActorType:
    if by == CLOCK:
        return "system"
    return "admin" if by.startswith("operator:") else "user"

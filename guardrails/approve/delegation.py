"""Who decides: handing an approval to somebody else, and drawing the operators' attention.

Neither decides anything. Both are rows of the ledger.
"""

from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.utils import timezone

from guardrails.approve.approval_rows import (
    ApprovalConflict,
    State,
    find,
    no_longer_waiting,
    remark,
    user,
)
from guardrails.facts.phrases import phrase
from guardrails.models import Approval
from integrations.models import Account
from integrations.web import staff

CODENAME = "guardrails.change_approval"
KINDS = ("user", "operator", "group")


class UnknownDelegate(ValueError):
    """Nobody of that name could decide this."""


def delegate(
    *,
    organisation_id: UUID,
    approval_id: UUID,
    to: str,
    by: str,
    external_user_id: str | None = None,
    note: str = "",
) -> Approval:
    """Hand a waiting approval to `user:<id>` of the organisation, `operator:<name>` or
    `group:<name>`: only they, or any operator, may decide it then. The user who is asked may
    take it back by naming themselves. Raises ApprovalNotFound, ApprovalConflict,
    UnknownDelegate.
    """
    row = find(organisation_id, approval_id, external_user_id)
    _check_delegate(organisation_id, to)
    home = to == user(row.external_user_id)
    before, now = row.delegated_to, timezone.now()
    if (before or user(row.external_user_id)) == to:
        return row
    moved = Approval.objects.filter(id=row.id, state=State.PENDING, delegated_to=before).update(
        delegated_to="" if home else to,
        delegated_by="" if home else by,
        delegated_as="" if home else external_user_id or "",
        delegated_at=None if home else now,
        shown_at=None,  # who has it now has not seen it
    )
    row.refresh_from_db()
    if not moved:
        raise no_longer_waiting(row)
    remark(
        row,
        reason="delegated",
        by=by,
        external_user_id=external_user_id,
        payload={"from": before, "to": to, "note": note},
    )
    return row


def escalate(
    *,
    organisation_id: UUID,
    approval_id: UUID,
    by: str,
    external_user_id: str | None = None,
    reason: str = "",
) -> Approval:
    """Mark a waiting approval for the operators. Once is enough: the first mark stays. Raises
    ApprovalNotFound, ApprovalConflict."""
    row = find(organisation_id, approval_id, external_user_id)
    now = timezone.now()
    if not escalate_row(row, by=by, external_user_id=external_user_id, reason=reason, now=now):
        row.refresh_from_db()
        if row.state != State.PENDING:
            raise no_longer_waiting(row)
    return row


def escalate_row(
    row: Approval, *, by: str, reason: str, now: datetime, external_user_id: str | None = None
) -> bool:
    """False when it no longer waits or is marked already."""
    marked = Approval.objects.filter(id=row.id, state=State.PENDING, escalated_at=None).update(
        escalated_at=now, escalated_by=by
    )
    if not marked:
        return False
    row.refresh_from_db(fields=["escalated_at", "escalated_by"])
    remark(
        row,
        reason="escalated",
        by=by,
        external_user_id=external_user_id,
        payload={"person_said": reason},
    )
    return True


def _check_delegate(organisation_id: UUID, to: str) -> None:
    kind, _, name = to.partition(":")
    if kind == "user":
        known = Account.objects.filter(
            organisation_id=organisation_id, external_user_id=name
        ).exists()
    elif kind == "operator":
        found = User.objects.filter(username=name, is_active=True, is_staff=True).first()
        known = (
            found is not None
            and found.has_perm(CODENAME)
            and staff.may_meet(found, organisation_id)
        )
    else:
        known = kind == "group" and Group.objects.filter(name=name).exists()
    if not known:
        raise UnknownDelegate(phrase("There is nobody of that name who could decide this."))


__all__ = ["ApprovalConflict", "UnknownDelegate", "delegate", "escalate", "escalate_row"]

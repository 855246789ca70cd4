"""Rows about the ledger itself: exports, alarms, erasures, cuts. Each is appended like any
other row; what is about no organisation belongs to the tenant LEDGER_TENANT."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from audit import ledger
from audit.contracts import ActorType, Entry, Status
from audit.ids import uuid7


def record(
    action_type: str,
    *,
    tenant_id: UUID,
    payload: dict[str, Any],
    status: Status = "recorded",
    action_id: UUID | None = None,
    actor_type: ActorType = "system",
    actor_id: str = "",
    on_behalf_of: str = "",
    error_code: str = "",
) -> UUID:
    """Append one control row; returns the id of its action, a new one unless it is given.

    Raises audit.ledger.LedgerError when it is not recorded.
    """
    made = entry(
        action_type,
        tenant_id=tenant_id,
        payload=payload,
        status=status,
        action_id=action_id,
        actor_type=actor_type,
        actor_id=actor_id,
        on_behalf_of=on_behalf_of,
        error_code=error_code,
    )
    ledger.append(made)
    return made.action_id


def entry(
    action_type: str,
    *,
    tenant_id: UUID,
    payload: dict[str, Any],
    status: Status = "recorded",
    action_id: UUID | None = None,
    actor_type: ActorType = "system",
    actor_id: str = "",
    on_behalf_of: str = "",
    error_code: str = "",
    parent_action_id: UUID | None = None,
) -> Entry:
    """A control row that is not appended yet."""
    return Entry(
        tenant_id=tenant_id,
        action_id=action_id or uuid7(),
        phase="control",
        status=status,
        action_type=action_type,
        occurred_at=timezone.now(),
        actor_type=actor_type,
        actor_id=actor_id,
        on_behalf_of=on_behalf_of,
        trigger="system" if actor_type == "system" else "operator",
        error_code=error_code,
        parent_action_id=parent_action_id,
        payload=payload,
    )

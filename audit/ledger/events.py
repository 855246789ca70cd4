"""Rows about the ledger itself: exports, alarms, erasures, cuts. Each is appended like any
other row; what is about no organisation belongs to the tenant LEDGER_TENANT, and so does what
is done with the ledger of an organisation that has ended."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.utils import timezone

from audit.contracts import LEDGER_TENANT, ActorType, Entry, Status
from audit.ledger import ledger
from audit.ledger.ids import uuid7


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
    after_end: bool = False,
) -> UUID:
    """Append one control row; returns the id of its action, a new one unless it is given.

    With `after_end` it may be about an organisation whose ledger has ended: the row then
    belongs to LEDGER_TENANT and names the organisation, in its payload and as its resource.
    Raises audit.contracts.LedgerError when it is not recorded.
    """
    built = build_entry(
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
    try:
        ledger.append(built)
    except ledger.Ended:
        if not after_end:
            raise
        name = str(tenant_id)
        about = {"organisation": name, **payload}
        ledger.append(replace(built, tenant_id=LEDGER_TENANT, resource_id=name, payload=about))
    return built.action_id


def build_entry(
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

"""Rows about the ledger itself: exports, alarms, erasures, cuts. Each is appended like any
other row; what is about no organisation belongs to the tenant LEDGER_TENANT, and so does what
is done with the ledger of an organisation that has ended."""

from dataclasses import replace
from typing import Any, TypedDict, Unpack
from uuid import UUID

from django.utils import timezone

from audit.contracts import LEDGER_TENANT, ActorType, Entry, Status
from audit.ledger import ledger
from audit.ledger.ids import uuid7


class Columns(TypedDict, total=False):
    """What else such a row may say, as in audit.contracts.Entry."""

    action_id: UUID  # a new one unless it is given
    parent_action_id: UUID
    status: Status
    actor_type: ActorType
    actor_id: str
    on_behalf_of: str
    error_code: str


def record(
    action_type: str,
    *,
    tenant_id: UUID,
    payload: dict[str, Any],
    after_end: bool = False,
    **columns: Unpack[Columns],
) -> UUID:
    """Append one control row; returns the id of its action.

    With `after_end` it may be about an organisation whose ledger has ended: the row then
    belongs to LEDGER_TENANT and names the organisation, in its payload and as its resource.
    Raises audit.contracts.LedgerError when it is not recorded.
    """
    entry = build_entry(action_type, tenant_id=tenant_id, payload=payload, **columns)
    try:
        ledger.append(entry)
    except ledger.Ended:
        if not after_end:
            raise
        name = str(tenant_id)
        about = {"organisation": name, **payload}
        ledger.append(replace(entry, tenant_id=LEDGER_TENANT, resource_id=name, payload=about))
    return entry.action_id


def build_entry(
    action_type: str, *, tenant_id: UUID, payload: dict[str, Any], **columns: Unpack[Columns]
) -> Entry:
    """A control row that is not appended yet; of the system itself unless it names an actor."""
    is_system = columns.setdefault("actor_type", "system") == "system"
    columns.setdefault("action_id", uuid7())
    columns.setdefault("status", "recorded")
    return Entry(
        tenant_id=tenant_id,
        phase="control",
        action_type=action_type,
        occurred_at=timezone.now(),
        trigger="system" if is_system else "operator",
        payload=payload,
        **columns,
    )

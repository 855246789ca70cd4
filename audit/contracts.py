"""Values that cross the edge of `audit`: what is appended to the ledger and what is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

Phase = Literal["attempt", "outcome", "blocked", "control", "redaction"]
Status = Literal[
    "pending", "succeeded", "noop", "failed", "blocked", "waiting", "denied", "unknown", "recorded"
]
ActorType = Literal["agent", "user", "admin", "recovery", "maintenance", "system"]
Verdict = Literal["allowed", "blocked", "approved", "none"]
JSON = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One thing an action brought forth at the provider (draft, message, issue, event)."""

    kind: str
    provider: str
    external_id: str
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One phase of one action, to be appended. Nothing appended ever changes.

    Ids of other apps' rows are kept as text or uuid, never as foreign keys: the ledger
    outlives what it names. Free text, names, addresses and plain provider ids go into
    `payload`, the only part that can be erased later; the rest is codes and ids.
    `resource_id` and `target_id` are stored as a keyed digest, plain only in the payload.
    `occurred_at` is the worker's clock (UTC); the database adds its own.
    """

    tenant_id: UUID
    action_id: UUID  # version 7: its time orders actions and chooses the partition
    phase: Phase
    status: Status
    action_type: str
    occurred_at: datetime
    attempt_no: int = 1
    # who
    account_id: UUID | None = None
    actor_type: ActorType = "agent"
    actor_id: str = ""
    on_behalf_of: str = ""
    agent_id: str = ""
    agent_version: str = ""
    model_id: str = ""
    skill_ref: str = ""
    pattern_id: str = ""
    # thread
    trigger: str = ""  # chat, webhook, pattern, operator, system
    run_id: str = ""
    trace_id: str = ""
    parent_action_id: UUID | None = None
    # what
    provider: str = ""
    resource_type: str = ""
    resource_id: str = ""
    target_id: str = ""
    target_group_id: str = ""
    # right
    decision: Verdict = "none"
    decision_reason: str = ""
    policy_digest: str = ""
    approval_id: str = ""
    approved_by: str = ""
    # result
    idempotency_key: str = ""
    error_code: str = ""
    provider_request_id: str = ""
    latency_ms: int | None = None
    target_row: int | None = None
    payload: JSON = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """One stored phase, as the executor and people's pages need it."""

    id: int
    action_id: UUID
    phase: Phase
    attempt_no: int
    status: Status
    action_type: str
    decision: Verdict
    decision_reason: str
    error_code: str
    idempotency_key: str
    occurred_at: datetime
    recorded_at: datetime
    payload: JSON
    artifacts: tuple[Artifact, ...]
